#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/config/experiment.h"
#include "experiments/run/step_record.h"

namespace trigram {

/// Watches whether the network stays the same along a simulated run, whose means per step are those
/// of one network only: links that are shaped begin with saved credit and are slower once it is
/// used up, and a profile changes links at certain times.
class NetworkChanges {
 public:
  using Credits = std::function<std::vector<double>()>;  // World::link_credits
  NetworkChanges(const Experiment& experiment, Credits credits);

  /// Steps in order, each when its last rank has ended it.
  void add(const StepRecord& record);
  /// What changed, or would have changed in a longer run, as sentences.
  std::vector<std::string> warnings() const;

 private:
  std::string of_credit() const;
  std::string of_profile() const;

  const LinkSpec& links_;
  const Credits credits_;
  const bool connects_nodes_;
  const long first_cycle_;             // steps until the algorithm has done everything once
  std::vector<double> least_credits_;  // of any link after each step, in bytes
  double end_s_ = 0;
};

}  // namespace trigram
