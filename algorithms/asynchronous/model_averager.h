#pragma once

#include "algorithms/asynchronous/pair_averages.h"
#include "algorithms/asynchronous/shared_model.h"

namespace trigram {

/// A rank's model. The rank's worker trains it, and an agent on another stream averages it with the
/// models of partners, one partner at a time. Steps that the worker makes during an average are
/// kept.
class ModelAverager {
 public:
  /// See PairAverages for `partners` and `codec`.
  ModelAverager(Context ctx, Run& run, const std::vector<int>& partners,
                std::optional<CodecSpec> codec)
      : model(ctx, run),
        pairs_(ctx, run, partners, std::move(codec)),
        snapshot_(ctx.device->empty_like(run.workload.weights())),
        change_(ctx.device->empty_like(snapshot_)) {}

  /// Called on the agents of this rank and of `partner`: x_i = x_i + (s_j - s_i)/2, where s are
  /// snapshots of the models taken now.
  void average(Context c, int partner) {
    long taken_at = 0;
    model.snapshot(c, snapshot_, taken_at);
    pairs_.average(c, snapshot_, partner, change_);
    model.add(c, change_, taken_at);
  }

  SharedModel model;

 private:
  PairAverages pairs_;
  Tensor snapshot_, change_;
};

}  // namespace trigram
