#include "core/workloads/micro_batches.h"

#include "core/check.h"
#include "core/workloads/wrapped_workload.h"

namespace trigram {
namespace {

class MicroBatches final : public WrappedWorkload {
 public:
  MicroBatches(std::unique_ptr<Workload> workload, const Context& ctx, Steps& steps, long count)
      : WrappedWorkload(std::move(workload)),
        sum_(ctx.device->empty_like(inner().gradients())),
        steps_(steps),
        count_(count) {
    TRIGRAM_CHECK(count >= 2, "{} micro-batches", count);
  }

  void forward(Context ctx) override {
    compute(ctx, [&] { inner().forward(ctx); });
  }
  void forward_by_bucket(Context ctx, const std::function<void(Bucket&)>& before) override {
    compute(ctx, [&] { inner().forward_by_bucket(ctx, before); });
  }
  void backward(Context ctx, const std::function<void(Bucket&)>& on_ready) override {
    const float share = 1 / static_cast<float>(count_);
    std::size_t begin = 0;
    inner().backward(ctx, [&](Bucket& bucket) {
      const Tensor& g = bucket.grad;
      const Tensor earlier = sum_.slice(begin, g.numel(), g.priced_numel());
      begin += g.numel();
      ctx.device->axpby(share, earlier, share, g);
      on_ready(bucket);
    });
    add_loss();
  }
  double loss() override {
    return learns() ? loss_sum_ / static_cast<double>(count_) : inner().loss();
  }

 private:
  /// All passes of a mini-batch except the last backward pass.
  void compute(Context ctx, const std::function<void()>& first_forward) {
    loss_sum_ = 0;
    first_forward();
    for (long done = 1; done < count_; ++done) {
      inner().backward(ctx, [](Bucket&) {});
      ctx.device->axpby(1, inner().gradients(), done == 1 ? 0 : 1, sum_);
      add_loss();
      inner().forward(ctx);
    }
    steps_.record_batches(count_);
  }
  void add_loss() {
    if (learns()) loss_sum_ += inner().loss();
  }

  Tensor sum_;  // of the gradients of all micro-batches but the last
  Steps& steps_;
  long count_;
  double loss_sum_ = 0;
};

}  // namespace

std::unique_ptr<Workload> with_micro_batches(std::unique_ptr<Workload> workload, const Context& ctx,
                                             Steps& steps, long count) {
  return std::make_unique<MicroBatches>(std::move(workload), ctx, steps, count);
}

}  // namespace trigram
