#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "core/context.h"
#include "core/training_state.h"

namespace trigram {

/// Deals the mini-batches of a step to ranks, so that all finish at about the same time: the
/// interleaved weighted round robin of SWARM (Ryabinin et al., arXiv 2301.11913;
/// yandex-research/swarm at f66855f7, moe/client/balancer.py), which there distributes requests
/// over the peers of a pipeline stage. Every mini-batch goes to the rank that is expected to be
/// free first, and a priority queue holds these times. Here all ranks are free at first, because
/// they have just averaged; and if several ranks are free, the lowest is first, where SWARM draws.
///
/// `batch` is the number of samples in a mini-batch of each rank, and `batches_per_s` the rank's
/// speed. Deals until there are `samples` samples and every rank has a mini-batch. Returns the
/// number of mini-batches by rank.
std::vector<long> deal_by_throughput(std::int64_t samples, std::span<const std::int64_t> batch,
                                     std::span<const double> batches_per_s);

/// Deals mini-batches to ranks whose speeds are unknown and may change. The estimate of a rank's
/// speed is an exponential moving average of the seconds that a mini-batch takes it. The average is
/// divided by the sum of its weights, as in SWARM (optim/performance_ema.py): of n measurements x,
/// a = `smoothing`, it is the sum of a (1 - a)^(n - i) x_i, divided by 1 - (1 - a)^n. All ranks
/// know all estimates and deal alike, so no rank is a coordinator.
///
/// Uses the control plane of the main stream: P-1 messages per rank at the start, and P-1 per step.
class ThroughputBalancer {
 public:
  /// `batch` is the number of samples in a mini-batch of this rank, and `smoothing` is in (0, 1].
  /// Before the first measurement all ranks are taken to be equally fast. `state` keeps the
  /// estimates. Collective.
  ThroughputBalancer(Context ctx, std::size_t batch, double smoothing, const TrainingState& state);

  /// The mini-batches of this rank in the next step, and the samples of all ranks, of which there
  /// are at least `samples`.
  struct Share {
    long batches;
    std::int64_t all_samples;
  };
  Share deal(Context ctx, std::int64_t samples) const;
  /// Tells all ranks how many seconds a mini-batch has taken this rank in the step, and waits for
  /// the measurements of all others. Collective.
  void measured(Context ctx, double batch_s);

 private:
  std::vector<std::int64_t> gather(Context ctx, std::int64_t own);

  const double smoothing_;
  std::vector<std::deque<std::int64_t>> received_;  // by rank, which may be one step ahead
  std::vector<std::int64_t> batch_;                 // by rank
  std::span<double> batch_s_;                       // estimates, by rank
  std::int64_t& steps_;                             // that were measured
};

}  // namespace trigram
