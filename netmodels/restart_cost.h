#pragma once

#include <cstdint>

namespace trigram {

/// The mean cost of node failures for a job that restarts from its last checkpoint after each
/// failure. All times are in seconds.
struct RestartCost {
  double node_mtbf_s = 0;    // mean time between two failures of a node; 0: there are none
  double detection_s = 0;    // from a failure until it is noticed
  double restart_s = 0;      // from the detection until training continues
  double checkpoint_s = 10;  // time to write a checkpoint
  std::int64_t every = 0;    // steps between checkpoints; 0: Young's rule (see interval)

  bool none() const { return node_mtbf_s == 0; }
  /// Steps between checkpoints: `every` if it is positive. Otherwise the whole number of steps, at
  /// least 1, whose time is closest to sqrt(2 * checkpoint_s * MTBF of the job), where the job's
  /// MTBF is node_mtbf_s / nodes (J. W. Young, "A first order approximation to the optimum
  /// checkpoint interval", CACM 17(9), 1974).
  std::int64_t interval(double step_s, std::int64_t nodes) const;
  /// The fraction of the job's time spent on steps that are not lost. A segment of length L (the
  /// steps up to a checkpoint, and writing it) takes (1/r + R) (e^(rL) - 1) in the mean: failures
  /// are a Poisson process of rate r = nodes / node_mtbf_s, and R = detection_s + restart_s is the
  /// recovery time, during which no further failure happens (J. T. Daly, "A higher order estimate
  /// of the optimum checkpoint interval for restart dumps", FGCS 22(3), 2006, section 2).
  double goodput(double step_s, std::int64_t nodes) const;
  /// The same if the workers of other nodes go on meanwhile, and without checkpoints: the share of
  /// the time in which a node is there, M / (M + R), if it stays for M in the mean and is away for
  /// the time R to recover. The others are assumed not to wait for it.
  double presence() const;
};

}  // namespace trigram
