#pragma once

#include <vector>

#include "netmodels/run_times.h"

namespace trigram {

/// Factors on the computation times of steps whose mini-batches a load-balanced loader has
/// distributed to the ranks. The factors are those that RunTimeDraws draws in the first
/// `epoch_steps` steps, in the order balanced of epoch_order (core/workloads/loader.h): in every
/// step, all ranks have neighbours in the sorted list of factors. All epochs are equal.
class BalancedRunTimes {
 public:
  BalancedRunTimes(const RunTimes& times, int ranks);
  double factor(int rank, long step) const;

 private:
  std::size_t ranks_, steps_;
  std::vector<double> factors_;  // by step, then by rank
};

}  // namespace trigram
