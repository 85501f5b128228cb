#include "core/workloads/micro_batches.h"

#include <cmath>

#include "core/device/timed_device.h"
#include "tests/core/workloads/fashion_mnist.h"

namespace trigram::test::micro_batches_test {
namespace {

constexpr int kCount = 4;

std::unique_ptr<WorkloadFactory> factory_of(const Json& workload) {
  return make_workload_factory(resolve_workload(workload, "", "/"), "");
}

/// The distance of two vectors, relative to the second.
double relative_distance(std::span<const float> x, std::span<const double> y) {
  double squares = 0, whole = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    squares += (double{x[i]} - y[i]) * (double{x[i]} - y[i]);
    whole += y[i] * y[i];
  }
  return std::sqrt(squares / whole);
}

void pass(Workload& workload, const Context& ctx) {
  workload.forward(ctx);
  workload.backward(ctx, [](Bucket&) {});
}

/// The mean, in double precision, of what the workload computes in `count` mini-batches.
struct Mean {
  Mean(Workload& workload, const Context& ctx, int count) : gradient(workload.weights().numel()) {
    for (int i = 0; i < count; ++i) {
      pass(workload, ctx);
      loss += workload.loss() / count;
      const auto g = workload.gradients().floats();
      for (std::size_t k = 0; k < g.size(); ++k) gradient[k] += double{g[k]} / count;
    }
  }
  std::vector<double> gradient;
  double loss = 0;
};

class MicroBatchesOfFashionMnist : public FashionMnist {};

/// The sampler hands out the same samples, and the loss is a mean over samples.
TEST_F(MicroBatchesOfFashionMnist, EqualOneLargeMiniBatch) {
  constexpr int kBatch = 8;
  HostDevice host;
  LoneRank rank(host, 1, 2);
  Steps steps(1);
  const auto parts =
      with_micro_batches(make({{"batch", kBatch}})->make(rank.ctx, 3), rank.ctx, steps, kCount);
  const auto whole = make({{"batch", kCount * kBatch}})->make(rank.ctx, 3);
  for (Workload* workload : {parts.get(), whole.get()}) workload->bucketize(10'000);
  for (int step = 0; step < 3; ++step) {
    const Mean expected(*whole, rank.ctx, 1);
    pass(*parts, rank.ctx);
    EXPECT_LT(relative_distance(parts->gradients().floats(), expected.gradient), 1e-6);
    EXPECT_NEAR(parts->loss(), expected.loss, 1e-6);
  }
  EXPECT_EQ(parts->batch(), std::size_t{kBatch});
}

/// The gradients are means over all micro-batches in every bucket as soon as it is reported, and
/// the micro-batches count.
TEST(MicroBatches, AverageGradientsAndLosses) {
  HostDevice host;
  LoneRank rank(host, 0, 2);
  Steps steps(1);
  const auto factory = factory_of({{"name", "quadratic"}, {"noise", 0.5}, {"tensors", 3}});
  const auto workload = with_micro_batches(factory->make(rank.ctx, 5), rank.ctx, steps, kCount);
  const auto single = factory->make(rank.ctx, 5);
  for (Workload* w : {workload.get(), single.get()}) w->bucketize(0);
  for (int step = 0; step < 2; ++step) {
    const Mean expected(*single, rank.ctx, kCount);
    std::vector<float> reported;
    workload->forward(rank.ctx);
    workload->backward(rank.ctx, [&](Bucket& bucket) {
      reported.insert(reported.end(), bucket.grad.floats().begin(), bucket.grad.floats().end());
    });
    EXPECT_LT(relative_distance(reported, expected.gradient), 1e-6);
    EXPECT_NEAR(workload->loss(), expected.loss, 1e-6 * expected.loss);
    EXPECT_EQ(steps.take_batches(), kCount);
  }
}

/// The weights of a step arrive before the first micro-batch reads them, once.
TEST(MicroBatches, WaitForWeightsOnce) {
  HostDevice host;
  LoneRank rank(host);
  Steps steps(1);
  const auto workload = with_micro_batches(
      factory_of({{"name", "quadratic"}, {"tensors", 3}})->make(rank.ctx, 5), rank.ctx, steps, 2);
  workload->bucketize(0);
  std::vector<int> arrived;
  workload->forward_by_bucket(rank.ctx, [&](Bucket& bucket) { arrived.push_back(bucket.index); });
  EXPECT_EQ(arrived, (std::vector<int>{2, 1, 0}));
}

/// Each micro-batch takes the profile's time. Sums are charged by the priced size of the model: the
/// first is a copy, the others read two vectors and write one, and so does the last, by bucket.
TEST(MicroBatches, OfPhantomsAreTimedAndCharged) {
  NullDevice null_device;
  RecordingStream clock;
  TimedDevice device(null_device, clock);
  LoneRank rank(device);
  Steps steps(1);
  const auto factory = factory_of("vgg16");
  const auto single = factory->make(rank.ctx, 1);
  single->bucketize(1 << 20);
  pass(*single, rank.ctx);
  const double once_s = rank.stream.computed_s;
  const auto workload = with_micro_batches(factory->make(rank.ctx, 1), rank.ctx, steps, kCount);
  workload->bucketize(1 << 20);
  clock.charged.clear();
  pass(*workload, rank.ctx);
  EXPECT_NEAR(rank.stream.computed_s, (1 + kCount) * once_s, 1e-12);
  double bytes = 0;
  for (const Cost& cost : clock.charged) bytes += cost.bytes;
  const double model = static_cast<double>(workload->weights().priced_nbytes());
  EXPECT_DOUBLE_EQ(bytes, (2 + 3 * (kCount - 1)) * model);
  EXPECT_EQ(clock.charged.size(), kCount - 1 + workload->buckets().size());
  EXPECT_TRUE(std::isnan(workload->loss()));
}

}  // namespace
}  // namespace trigram::test::micro_batches_test
