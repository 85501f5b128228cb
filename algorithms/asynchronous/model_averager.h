#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/algorithm.h"
#include "core/codec.h"

namespace trigram {

/// Averages of the models of two ranks, exact or with a codec, as the changes that the two ranks
/// add to their models. The two changes are equal with opposite signs, so the sum of all models is
/// conserved whatever a code loses.
///
/// With a codec Q, every two ranks that may average share a reference r, which both know. They send
/// the code of the difference between a model x and r:
///
///   q_i = Q(x_i - r),  q_j = Q(x_j - r)
///   x_i = x_i + (q_j - q_i)/2,  x_j = x_j + (q_i - q_j)/2,  r = r + (q_i + q_j)/2
///
/// Hence the new x_i - r is the old x_i - r less q_i: the loss of the code is the new difference
/// between model and reference, and the next average encodes it again. This is error feedback
/// without a residual. Q must lose less than its input, which unbiased codecs of few bits or few
/// elements do not satisfy.
class PairAverages {
 public:
  /// `partners` are the ranks that this rank may average with. With a codec, the run's weights,
  /// which must be equal on all ranks, are the first references. Memory: one model per partner, and
  /// one more.
  PairAverages(Context ctx, Run& run, const std::vector<int>& partners,
               std::optional<CodecSpec> codec);

  /// Called on both ranks: `change` becomes the change of `model` by the average with the model of
  /// `partner`. One message each way.
  void average(Context c, const Tensor& model, int partner, const Tensor& change);

 private:
  struct Reference {
    Tensor model;
    long averages = 0;
  };
  void average_coded(Context c, const Tensor& model, int partner, const Tensor& change);

  std::optional<CodecSpec> codec_;
  std::uint64_t seed_;
  std::map<int, Reference> references_;  // by partner
  Tensor decoded_;                       // only with a codec
};

/// A rank's model that its worker and an agent on another stream both change. Each adds to it, so
/// neither overwrites the other's changes. The worker computes on a copy, the workload's weights;
/// the agent waits only for additions, never for a gradient.
class SharedModel {
 public:
  /// Starts as the workload's weights.
  SharedModel(Context ctx, Run& run);

  /// One iteration of the worker on a copy of the model: model += the optimizer's change. The
  /// workload's weights hold the model as of the end of the last step.
  void step(Context ctx, Run& run);
  /// Copies the present model to the workload's weights.
  void read(Context ctx);

  /// The agent copies the model; `taken_at` becomes the worker's present step.
  void snapshot(Context c, const Tensor& copy, long& taken_at);
  /// model += change, which the agent computed from a snapshot; records the snapshot's age.
  void add(Context c, const Tensor& change, long taken_at);

 private:
  Tensor weights_, model_, change_;
  std::unique_ptr<Mutex> guard_;
  Steps& steps_;
};

/// A rank's model. Its worker trains it, and an agent on another stream averages it with the models
/// of partners, pair by pair. Steps that the worker makes during an average are kept.
class ModelAverager {
 public:
  /// See PairAverages for `partners` and `codec`.
  ModelAverager(Context ctx, Run& run, const std::vector<int>& partners,
                std::optional<CodecSpec> codec)
      : model(ctx, run),
        pairs_(ctx, run, partners, std::move(codec)),
        snapshot_(ctx.device->empty_like(run.workload.weights())),
        change_(ctx.device->empty_like(snapshot_)) {}

  /// Called on this rank's agent and on that of `partner`: x_i = x_i + (s_j - s_i)/2, where s are
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
