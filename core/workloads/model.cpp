#include "core/workloads/model.h"

#include <numeric>

#include "core/check.h"

namespace trigram {

std::size_t Model::numel() const {
  const std::vector<std::size_t> lengths = tensor_lengths();
  return std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
}

ModelWorkload::ModelWorkload(const Context& ctx, std::unique_ptr<Model> model, bool values)
    : FlatWorkload(*ctx.device, model->tensor_lengths(), model->numel()),
      model_(std::move(model)),
      values_(values) {
  TRIGRAM_CHECK(weights().is_phantom() != values, "values are {} but the device is {}",
                values ? "wanted" : "not wanted", ctx.device->name());
  if (!values_) return;
  std::vector<float> start(weights().numel());
  model_->initialise(start);
  ctx.device->upload(weights(), start);
}

void ModelWorkload::forward(Context ctx) { model_->forward(*ctx.device, weights()); }

void ModelWorkload::backward(Context ctx, const std::function<void(Bucket&)>& on_ready) {
  TRIGRAM_CHECK(!buckets().empty(), "bucketize() comes before training");
  std::size_t complete = 0, ready = 0;
  model_->backward(*ctx.device, weights(), gradients(), [&] {
    if (++complete == range(ready).last) on_ready(buckets()[ready++]);
  });
  TRIGRAM_CHECK(ready == buckets().size(), "{} of {} buckets were completed", ready,
                buckets().size());
}

Quality ModelWorkload::evaluate(std::span<const float> weights, std::size_t max_samples) {
  if (!values_) return FlatWorkload::evaluate(weights, max_samples);
  return model_->evaluate(weights, max_samples);
}

}  // namespace trigram
