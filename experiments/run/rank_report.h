#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/run/rank_main.h"

namespace trigram {

/// What a rank that is a process of its own has to tell about a run.
struct RankReport {
  long first = 0;                              // number of the first of these steps
  std::vector<RankStep> steps;                 // that it has not told of yet
  std::map<long, std::vector<float>> weights;  // after the steps that are evaluated
  RankResult result;
  std::string timeline;
};
std::string to_bytes(const RankReport& report);
RankReport report_from_bytes(const std::string& bytes);

/// Every rank calls it, with what it has to tell: rank 0 gets it all, by rank, the others nothing.
std::vector<std::string> gather(const Context& ctx, const std::string& mine);

}  // namespace trigram
