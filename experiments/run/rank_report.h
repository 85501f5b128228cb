#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/run/rank_main.h"

namespace trigram {

/// The report about a run from a rank that is a separate process.
struct RankReport {
  long first = 0;                              // number of the first step in `steps`
  std::vector<RankStep> steps;                 // steps that have not been reported yet
  std::map<long, std::vector<float>> weights;  // by step, for steps that are evaluated
  RankResult result;
  std::string timeline;
};
std::string to_bytes(const RankReport& report);
RankReport report_from_bytes(const std::string& bytes);

/// Collective. On rank 0, returns the `mine` of all ranks, by rank; on other ranks, returns
/// nothing.
std::vector<std::string> gather(const Context& ctx, const std::string& mine);

}  // namespace trigram
