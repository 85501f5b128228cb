#include "core/optimizers/clipped.h"

#include "core/optimizers/wrapped_optimizer.h"

namespace trigram {
namespace {

class Clipped final : public WrappedOptimizer {
 public:
  Clipped(std::unique_ptr<Optimizer> optimizer, Workload& workload, double max_norm)
      : WrappedOptimizer(std::move(optimizer)), workload_(workload), max_norm_(max_norm) {}

  bool needs_all_gradients() const override { return true; }
  void step(Context ctx, Bucket& bucket) override {
    clip_before_first(ctx);
    inner().step(ctx, bucket);
  }
  void accumulate(Context ctx, Bucket& bucket) override {
    clip_before_first(ctx);
    inner().accumulate(ctx, bucket);
  }

 private:
  /// Every iteration takes the gradient of every bucket once.
  void clip_before_first(Context ctx) {
    if (taken_ == 0) {
      const Tensor g = workload_.gradients();
      const double norm = ctx.device->norm2(g);
      ctx.device->axpby(norm > max_norm_ ? static_cast<float>(max_norm_ / norm) : 1, g, 0, g);
    }
    taken_ = (taken_ + 1) % workload_.buckets().size();
  }

  Workload& workload_;
  double max_norm_;
  std::size_t taken_ = 0;  // buckets whose gradient has been taken in this iteration
};

}  // namespace

std::unique_ptr<Optimizer> clipped(std::unique_ptr<Optimizer> optimizer, Workload& workload,
                                   double max_norm) {
  TRIGRAM_CHECK(max_norm > 0, "gradients are clipped to a norm of {}", max_norm);
  return std::make_unique<Clipped>(std::move(optimizer), workload, max_norm);
}

}  // namespace trigram
