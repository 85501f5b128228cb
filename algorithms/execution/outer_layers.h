#pragma once

#include <memory>
#include <vector>

#include "algorithms/execution/exchange.h"
#include "algorithms/execution/fragments.h"
#include "algorithms/execution/outer_momentum.h"

namespace trigram {

/// The outer parameters y of a model that is exchanged in fragments, their momentum, and the
/// differences y - x in flight, by layer. Memory: three models. A layer is a bucket.
class OuterLayers {
 public:
  struct Options {
    FragmentSchedule schedule;
    long overlap_steps = 0;  // from the exchange of a fragment to its outer step
    float mixing = 0;        // share of a worker's own weights when outer parameters arrive
    OuterStep outer;
  };
  /// Collective, at start-up. `average` replaces a difference by its mean over the ranks, and is
  /// made hierarchical if the run is (`across`).
  OuterLayers(Context ctx, Run& run, const Options& options, Exchange average);

  /// Begins the exchange of the layer if its fragment is due at the end of `step`.
  void send(Context ctx, Run& run, const Bucket& layer, long step);
  /// Waits for the exchange of the layer, and makes the outer step on it, if that is due at the end
  /// of `step`.
  void receive(Context ctx, const Bucket& layer, long step);
  /// Waits for the exchanges in flight, whose results the next part of the run uses.
  void finish(Context ctx);
  /// All outer parameters, the same on all ranks.
  const Tensor& parameters() const { return parameters_; }

 private:
  bool due(std::size_t layer, long step) const;
  void wait(Context ctx, std::size_t layer);

  Options options_;
  std::unique_ptr<Stream> comm_;
  Exchange average_;
  Tensor parameters_;
  std::vector<Tensor> outer_, momentum_, sent_;  // by layer
  WorkList pending_;                             // null for layers that are not in flight
};

}  // namespace trigram
