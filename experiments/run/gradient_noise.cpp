#include "experiments/run/gradient_noise.h"

#include <utility>

#include "core/optimizers/wrapped_optimizer.h"
#include "core/workloads/wrapped_workload.h"

namespace trigram {

GradientNoise estimate_noise(const GradientSquares& squares, double samples, double workers) {
  TRIGRAM_CHECK(workers > 1, "the noise of gradients of {} worker", workers);
  const double small = samples, large = samples * workers;
  return {(large * squares.mean - small * squares.own) / (large - small),
          (squares.own - squares.mean) / (1 / small - 1 / large)};
}

/// Measures each bucket's gradient when it is complete, before it is exchanged.
class NoiseMeter::MeteredWorkload final : public WrappedWorkload {
 public:
  MeteredWorkload(std::unique_ptr<Workload> workload, NoiseMeter& meter)
      : WrappedWorkload(std::move(workload)), meter_(meter) {}
  void backward(Context ctx, const std::function<void(Bucket&)>& on_ready) override {
    inner().backward(ctx, [&](Bucket& bucket) {
      meter_.squares_.own += meter_.square(bucket.grad);
      on_ready(bucket);
    });
  }

 private:
  NoiseMeter& meter_;
};

/// Measures each bucket's gradient when the optimizer takes it, before anything clips it.
class NoiseMeter::MeteredOptimizer final : public WrappedOptimizer {
 public:
  MeteredOptimizer(std::unique_ptr<Optimizer> optimizer, Workload& workload, NoiseMeter& meter)
      : WrappedOptimizer(std::move(optimizer)), workload_(workload), meter_(meter) {}
  void step(Context ctx, Bucket& bucket) override {
    if (!needs_all_gradients()) meter_.squares_.mean += meter_.square(bucket.grad);
    else if (taken_ == 0) meter_.squares_.mean += meter_.square(workload_.gradients());
    taken_ = (taken_ + 1) % workload_.buckets().size();
    inner().step(ctx, bucket);
  }

 private:
  Workload& workload_;
  NoiseMeter& meter_;
  std::size_t taken_ = 0;  // buckets that the optimizer has taken in this iteration
};

std::unique_ptr<Workload> NoiseMeter::wrap(std::unique_ptr<Workload> workload) {
  return std::make_unique<MeteredWorkload>(std::move(workload), *this);
}

std::unique_ptr<Optimizer> NoiseMeter::wrap(std::unique_ptr<Optimizer> optimizer,
                                            Workload& workload) {
  return std::make_unique<MeteredOptimizer>(std::move(optimizer), workload, *this);
}

GradientSquares NoiseMeter::take() { return std::exchange(squares_, {}); }

double NoiseMeter::square(const Tensor& x) const {
  const double norm = device_.norm2(x);
  return norm * norm;
}

}  // namespace trigram
