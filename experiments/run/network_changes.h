#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/config/experiment.h"
#include "experiments/run/step_record.h"

namespace trigram {

/// Detects whether the network changes during a simulated run, so that means per step mix different
/// networks. Shaped links begin with saved credit and become slower when the credit is used up. A
/// profile changes links at given times.
class NetworkChanges {
 public:
  using Credits = std::function<std::vector<double>()>;  // World::link_credits
  NetworkChanges(const Experiment& experiment, Credits credits);

  /// Records must come in the order of steps. Call it for each step at the time at which its last
  /// rank has ended the step.
  void add(const StepRecord& record);
  /// Sentences about the changes in this run, and about changes that a longer run would have.
  std::vector<std::string> warnings() const;

 private:
  std::string credit_warning() const;
  std::string profile_warning() const;

  const LinkSpec& links_;
  const Credits credits_;
  const double begin_s_;  // in seconds of the simulation, from which the times of records count
  const bool connects_nodes_;
  const long first_cycle_;             // steps until the algorithm has completed its first cycle
  std::vector<double> least_credits_;  // the least credit of any link after each step, in bytes
  double end_s_ = 0;
};

}  // namespace trigram
