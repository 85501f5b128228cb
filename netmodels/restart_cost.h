#pragma once

#include <cstdint>

namespace trigram {

/// What failures of nodes cost a job that begins again at its last checkpoint after each of them,
/// in the mean. All times are in seconds.
struct RestartCost {
  double node_mtbf_s = 0;    // mean time between two failures of a node; 0: there are none
  double detection_s = 0;    // from a failure until it is noticed
  double restart_s = 0;      // from then on until training goes on
  double checkpoint_s = 10;  // a checkpoint takes so long to write
  std::int64_t every = 0;    // steps from one checkpoint to the next; 0: by Young's rule

  bool none() const { return node_mtbf_s == 0; }
  /// Steps between checkpoints: `every` or, by the rule of J. W. Young ("A first order
  /// approximation to the optimum checkpoint interval", CACM 17(9), 1974), the whole number of
  /// steps, but at least one, that is closest to sqrt(2 x time of a checkpoint x mean time between
  /// failures).
  std::int64_t interval(double step_s, std::int64_t nodes) const;
  /// The share of the time in which steps are made that count. A segment of length L from one
  /// checkpoint to the next takes (1/r + R) (e^(rL) - 1) in the mean, if failures are a Poisson
  /// process of rate r, N times that of one node, and R is the time to recover, in which further
  /// failures do no harm (J. T. Daly, "A higher order estimate of the optimum checkpoint interval
  /// for restart dumps", FGCS 22(3), 2006, section 2).
  double goodput(double step_s, std::int64_t nodes) const;
  /// The same if the workers of other nodes go on meanwhile, and without checkpoints: the share of
  /// the time in which a node is there, M / (M + R), if it stays for M in the mean and is away for
  /// the time R to recover. The others are assumed not to wait for it.
  double presence() const;
};

}  // namespace trigram
