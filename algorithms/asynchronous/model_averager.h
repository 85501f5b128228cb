#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/algorithm.h"
#include "core/codec.h"

namespace trigram {

/// Averages of the models of two ranks, exact or with a codec. The result is a change that each
/// rank adds to its model. The two changes are equal with opposite signs, so the sum of all models
/// is conserved, however large the loss of a code is.
///
/// With a codec Q, every two ranks that may average share a reference r, which both know. They send
/// the code of the difference between a model x and r:
///
///   q_i = Q(x_i - r),  q_j = Q(x_j - r)
///   x_i = x_i + (q_j - q_i)/2,  x_j = x_j + (q_i - q_j)/2,  r = r + (q_i + q_j)/2
///
/// The new x_i - r is therefore the old x_i - r minus q_i, which is the loss of the code. The next
/// average encodes it again: this is error feedback without a residual. Q must be a contraction
/// (CodecEntry::is_contraction), which unbiased codecs of few bits or few elements are not.
class PairAverages {
 public:
  /// `partners` are the ranks that this rank may average with. With a codec, the first references
  /// are the run's weights, which must be equal on all ranks. Memory with a codec: one model per
  /// partner, and one more.
  PairAverages(Context ctx, Run& run, const std::vector<int>& partners,
               std::optional<CodecSpec> codec);

  /// Called on both ranks: sets `change` to what this rank must add to `model` to average it with
  /// the model of `partner`. Each rank sends one message.
  void average(Context c, const Tensor& model, int partner, const Tensor& change);

 private:
  struct Reference {
    Tensor model;
    long* averages = nullptr;  // their number
  };
  void average_coded(Context c, const Tensor& model, int partner, const Tensor& change);

  std::optional<CodecSpec> codec_;
  std::uint64_t seed_;
  TrainingState state_;                  // owns the numbers of averages
  std::map<int, Reference> references_;  // by partner
  Tensor decoded_;                       // only with a codec
};

/// A model of a rank that both the rank's worker and an agent on another stream change. Both only
/// add to it, so neither overwrites changes of the other. The worker computes on a copy, the
/// workload's weights, so the agent may have to wait for an addition, but never for a gradient.
class SharedModel {
 public:
  /// Starts as the workload's weights.
  SharedModel(Context ctx, Run& run);

  /// One iteration of the worker on the workload's weights, the copy of the model that the last
  /// step took: model += the optimizer's change. At the end it takes the copy for the next step.
  void step(Context ctx, Run& run);
  /// Copies the model to the workload's weights. Only needed after the last step, because the agent
  /// may have changed the model since then.
  void refresh_weights(Context ctx);

  /// Sets the model to the workload's weights, which are those of another worker now. Nothing may
  /// add to the model meanwhile.
  void restart(Context ctx);

  /// Called by the agent: sets `copy` to the model, and `taken_at` to the worker's present step.
  void snapshot(Context c, const Tensor& copy, long& taken_at);
  /// Called by the agent: model += change, which was computed from a snapshot taken at step
  /// `taken_at`. Records the snapshot's age as staleness.
  void add(Context c, const Tensor& change, long taken_at);

 private:
  Tensor weights_, model_, change_;
  std::unique_ptr<Mutex> guard_;
  Steps& steps_;
};

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
