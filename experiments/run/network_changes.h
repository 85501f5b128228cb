#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/config/experiment.h"
#include "experiments/run/step_record.h"

namespace trigram {

/// Detects whether the network changes during a simulated run: means per step would then mix
/// different networks. Shaped links begin with saved credit and become slower when it is used up. A
/// profile changes links at given times.
class NetworkChanges {
 public:
  using Credits = std::function<std::vector<double>()>;  // World::link_credits
  NetworkChanges(const Experiment& experiment, Credits credits);

  /// Records must come in the order of steps. Call it for each step at the time at which its last
  /// rank has ended the step.
  void add(const StepRecord& record);
  /// Sentences that say which changes there were, or would have been in a longer run.
  std::vector<std::string> warnings() const;

 private:
  std::string of_credit() const;
  std::string of_profile() const;

  const LinkSpec& links_;
  const Credits credits_;
  const bool connects_nodes_;
  const long first_cycle_;             // steps until the algorithm has completed its first cycle
  std::vector<double> least_credits_;  // the least credit of any link after each step, in bytes
  double end_s_ = 0;
};

}  // namespace trigram
