#include <gtest/gtest.h>

#include <filesystem>

#include "core/workloads/registry.h"
#include "tests/support/lone_rank.h"

namespace trigram {
namespace {

using test::LoneRank;

constexpr const char* kFolder = "/usr/share/datasets/fashion-mnist";

std::unique_ptr<WorkloadFactory> make(Json options) {
  options["name"] = "fashion_mnist";
  return make_workload_factory(resolve_workload(options, "", "/"), "");
}

/// Plain stochastic gradient descent on one rank.
Quality train(Workload& workload, LoneRank& rank, int steps, float lr) {
  workload.bucketize(0);
  const double untrained = workload.evaluate(workload.weights().floats()).loss;
  EXPECT_GT(untrained, 1.5);  // about ln 10 for ten classes
  for (int step = 0; step < steps; ++step) {
    workload.forward(rank.ctx);
    workload.backward(rank.ctx, [&](Bucket& bucket) {
      rank.ctx.device->axpby(-lr, bucket.grad, 1, bucket.weight);
    });
  }
  EXPECT_LT(workload.loss(), untrained);
  return workload.evaluate(workload.weights().floats());
}

class FashionMnist : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << "needs dataset-fashion-mnist";
  }
};

TEST_F(FashionMnist, MlpLearns) {
  HostDevice host;
  LoneRank rank(host);
  const auto workload = make(Json::object())->make(rank.ctx, 1);
  EXPECT_EQ(workload->weights().numel(), 784u * 64 + 64 + 64 * 10 + 10);
  EXPECT_EQ(workload->batch(), 32u);
  const Quality quality = train(*workload, rank, 800, 0.05f);
  EXPECT_GT(quality.accuracy.value(), 0.80);
  EXPECT_LT(quality.loss, 0.6);
}

TEST_F(FashionMnist, CnnLearns) {
  HostDevice host;
  LoneRank rank(host);
  const auto workload = make({{"model", "cnn"}})->make(rank.ctx, 1);
  EXPECT_EQ(workload->weights().numel(), 8u * 9 + 8 + 16 * 72 + 16 + 784 * 10 + 10);
  EXPECT_GT(train(*workload, rank, 150, 0.1f).accuracy.value(), 0.70);
}

TEST_F(FashionMnist, PricedAsAnotherModelItLearnsTheSame) {
  HostDevice host;
  LoneRank plain(host), priced(host);
  const auto own = make(Json::object())->make(plain.ctx, 1);
  const auto large = make({{"priced_as", "bert_large"}})->make(priced.ctx, 1);
  const Quality a = train(*own, plain, 50, 0.1f), b = train(*large, priced, 50, 0.1f);
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(a.accuracy, b.accuracy);
  EXPECT_EQ(plain.stream.computed_s, 0);
  EXPECT_NEAR(priced.stream.computed_s, 50 * 0.53, 1e-6);
}

}  // namespace
}  // namespace trigram
