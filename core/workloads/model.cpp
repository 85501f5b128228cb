#include "core/workloads/model.h"

#include <numeric>

#include "core/check.h"
#include "core/workloads/bucketing.h"

namespace trigram {
namespace {

class ModelWorkload final : public FlatWorkload {
 public:
  ModelWorkload(const Context& ctx, std::unique_ptr<Model> model, bool values)
      : FlatWorkload(*ctx.device, model->tensor_lengths(), model->numel(), {},
                     model->tensor_rows()),
        model_(std::move(model)),
        values_(values) {
    TRIGRAM_CHECK(weights().is_phantom() != values, "values are {} but the device is {}",
                  values ? "wanted" : "not wanted", ctx.device->name());
    if (const std::size_t numel = model_->buffer_numel(); numel > 0)
      buffers_ = ctx.device->empty(numel);
    if (!values_) return;
    if (buffers_.numel() > 0) model_->place_buffers(buffers_);
    std::vector<float> start(weights().numel());
    model_->initialise(start);
    ctx.device->upload(weights(), start);
  }
  Tensor buffers() override { return buffers_; }
  void forward(Context ctx) override {
    model_->forward(*ctx.device, weights());
    charge(ctx, model_->forward_cost());
  }
  void backward(Context ctx, const std::function<void(Bucket&)>& on_ready) override {
    TRIGRAM_CHECK(!buckets().empty(), "bucketize() comes before training");
    std::size_t complete = 0, ready = 0;
    model_->backward(*ctx.device, weights(), gradients(), [&] {
      charge(ctx, model_->backward_cost(complete));
      if (++complete == range(ready).last) on_ready(buckets()[ready++]);
    });
    TRIGRAM_CHECK(ready == buckets().size(), "{} of {} buckets were completed", ready,
                  buckets().size());
  }
  void skip(long count) override { model_->skip(count); }
  double loss() override { return model_->loss(); }
  bool has_values() const override { return values_; }
  Quality evaluate(std::span<const float> weights, std::size_t max_samples) override {
    return values_ ? model_->evaluate(weights, max_samples)
                   : FlatWorkload::evaluate(weights, max_samples);
  }
  std::size_t batch() const override { return model_->batch(); }

 private:
  static void charge(const Context& ctx, const Cost& cost) {
    if (!cost.is_noop()) ctx.stream->charge(cost);
  }

  std::unique_ptr<Model> model_;
  Tensor buffers_;
  bool values_;
};

}  // namespace

std::size_t Model::numel() const {
  const std::vector<std::size_t> lengths = tensor_lengths();
  return std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
}

std::unique_ptr<Workload> model_workload(const Context& ctx, std::unique_ptr<Model> model,
                                         bool values) {
  return std::make_unique<ModelWorkload>(ctx, std::move(model), values);
}

}  // namespace trigram
