#include "algorithms/asynchronous/model_averager.h"

#include <fmt/format.h>

#include "algorithms/collectives/point_to_point.h"
#include "algorithms/execution/exchange.h"
#include "algorithms/execution/steps.h"

namespace trigram {

PairAverages::PairAverages(Context ctx, Run& run, const std::vector<int>& partners,
                           std::optional<CodecSpec> codec)
    : codec_(std::move(codec)), seed_(run.seed), state_(run.state.child("references")) {
  if (!codec_) return;
  const Tensor weights = run.workload.weights();
  decoded_ = ctx.device->empty_like(weights);
  for (const int partner : partners)
    references_[partner] = {state_.copy_of(ctx, fmt::format("model {}", partner), weights),
                            &state_.value<long>(fmt::format("averages {}", partner))};
}

void PairAverages::average(Context c, const Tensor& model, int partner, const Tensor& change) {
  if (codec_) return average_coded(c, model, partner, change);
  send_receive(c, model, partner, change, partner, TrafficClass::point_to_point);
  c.device->axpby(-0.5f, model, 0.5f, change);
}

void PairAverages::average_coded(Context c, const Tensor& model, int partner,
                                 const Tensor& change) {
  Reference& reference = references_.at(partner);
  const auto codec =
      c.device->codec(*codec_, codec_key(c, seed_, {partner, (*reference.averages)++}));
  const Tensor out = codec->empty_wire(*c.device, model), in = codec->empty_wire(*c.device, model);
  c.device->copy(change, model);
  c.device->axpby(-1, reference.model, 1, change);
  codec->encode(out, change);
  send_receive(c, out, partner, in, partner, TrafficClass::point_to_point);
  codec->decode(decoded_, out);
  codec->decode(change, in);
  // Adds in the order of ranks, so that references stay equal.
  const bool lower = c.rank() < partner;
  c.device->axpby(0.5f, lower ? decoded_ : change, 1, reference.model);
  c.device->axpby(0.5f, lower ? change : decoded_, 1, reference.model);
  c.device->axpby(-0.5f, decoded_, 0.5f, change);
}

SharedModel::SharedModel(Context ctx, Run& run)
    : weights_(run.workload.weights()),
      model_(ctx.device->copy_of(weights_)),
      change_(ctx.device->empty_like(weights_)),
      guard_(ctx.stream->make_mutex()),
      steps_(run.steps) {}

void SharedModel::step(Context ctx, Run& run) {
  ctx.device->copy(change_, weights_);
  local_step(ctx, run);
  ctx.device->axpby(1, weights_, -1, change_);
  Lock lock(*guard_);
  ctx.device->axpby(1, change_, 1, model_);
  ctx.device->copy(weights_, model_);
}

void SharedModel::refresh_weights(Context ctx) {
  Lock lock(*guard_);
  ctx.device->copy(weights_, model_);
}

void SharedModel::restart(Context ctx) {
  Lock lock(*guard_);
  ctx.device->copy(model_, weights_);
}

void SharedModel::snapshot(Context c, const Tensor& copy, long& taken_at) {
  Lock lock(*guard_);
  c.device->copy(copy, model_);
  taken_at = steps_.current();
}

void SharedModel::add(Context c, const Tensor& change, long taken_at) {
  Lock lock(*guard_);
  c.device->axpby(1, change, 1, model_);
  steps_.record_staleness(steps_.current() - taken_at);
}

}  // namespace trigram
