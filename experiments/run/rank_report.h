#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/run/rank_main.h"

namespace trigram {

/// The report of a rank that is a separate process, for rank 0.
struct RankReport {
  long first = 0;                              // number of the first step in `steps`
  std::vector<RankStep> steps;                 // steps that were not in an earlier report
  std::map<long, std::vector<float>> weights;  // by step, for steps that are evaluated
  RankResult result;
  std::string timeline;
};
std::string to_bytes(const RankReport& report);
RankReport report_from_bytes(const std::string& bytes);

/// A barrier over all ranks. Ranks wait on the control plane, so that the watchdog sees which rank
/// waits for a missing rank.
void barrier(const Context& ctx);

/// Collective. Returns the texts `own` of all ranks, by rank, on rank 0, and an empty list on other
/// ranks.
std::vector<std::string> gather(const Context& ctx, const std::string& own);

}  // namespace trigram
