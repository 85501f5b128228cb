#pragma once

#include "algorithms/asynchronous/pair_averages.h"
#include "algorithms/asynchronous/shared_model.h"

namespace trigram {

/// A rank's model, which its worker trains while an agent, on another stream, averages it with
/// those of partners, pair by pair. What the worker does meanwhile is kept.
class ModelAverager {
 public:
  /// `partners` and `codec` as in PairAverages.
  ModelAverager(Context ctx, Run& run, const std::vector<int>& partners,
                std::optional<CodecSpec> codec)
      : model(ctx, run),
        pairs_(ctx, run, partners, std::move(codec)),
        snapshot_(ctx.device->empty_like(run.workload.weights())),
        change_(ctx.device->empty_like(snapshot_)) {}

  /// Agent, and that of `partner`: x_i = x_i + (s_j - s_i)/2, s the models as they are now.
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
