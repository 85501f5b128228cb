#include "tests/core/workloads/fashion_mnist.h"

#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/optimizers/registry.h"

namespace trigram::fashion_mnist_test {
namespace {

using test::FashionMnist;
using test::LoneRank;

TEST_F(FashionMnist, MlpLearns) {
  HostDevice host;
  LoneRank rank(host);
  const auto workload = make(Json::object())->make(rank.ctx, 1);
  EXPECT_EQ(workload->weights().numel(), 784u * 64 + 64 + 64 * 10 + 10);
  EXPECT_EQ(workload->batch(), 32u);
  const Quality untrained = workload->evaluate(workload->weights().floats(), kAllSamples);
  EXPECT_LT(untrained.accuracy.value(), 0.3);
  EXPECT_GT(untrained.loss, 1.5);  // about ln 10 for ten classes
  const Quality trained = train(*workload, rank, 800, 0.05f);
  EXPECT_GT(trained.accuracy.value(), 0.80);
  EXPECT_LT(trained.loss, 0.6);
  EXPECT_LT(workload->loss(), untrained.loss);
}

TEST_F(FashionMnist, KnowsTheShapesOfItsTensors) {
  HostDevice host;
  LoneRank rank(host);
  const auto workload = make({{"model", "cnn"}, {"hidden", {30}}})->make(rank.ctx, 1);
  workload->bucketize(1 << 20);
  ASSERT_EQ(workload->buckets().size(), 1u);
  std::vector<std::pair<std::size_t, std::size_t>> shapes;
  for (const TensorPlace& t : workload->buckets()[0].tensors)
    shapes.push_back({t.rows, t.numel / t.rows});
  const std::vector<std::pair<std::size_t, std::size_t>> expected = {
      {1, 10}, {10, 30}, {1, 30}, {30, 7 * 7 * 16}, {1, 16}, {16, 8 * 9}, {1, 8}, {8, 9}};
  EXPECT_EQ(shapes, expected);
}

/// Every optimizer, in buckets that hold several tensors, at a learning rate that suits it.
TEST_F(FashionMnist, LearnsWithEveryOptimizer) {
  const std::map<std::string, double> rates = {
      {"sgd", 0.05},  {"adam", 0.002}, {"adamw", 0.002}, {"rmsprop", 0.001}, {"adagrad", 0.01},
      {"lion", 2e-4}, {"lamb", 0.01},  {"lars", 5},      {"muon", 0.005}};
  ASSERT_EQ(rates.size(), optimizers().size());
  for (const OptimizerEntry& entry : optimizers()) {
    HostDevice host;
    LoneRank rank(host);
    const auto workload = make(Json::object())->make(rank.ctx, 1);
    workload->bucketize(1 << 20);
    const Json options = entry.resolve({{"lr", rates.at(entry.name)}, {"decay", "linear"}}, "");
    constexpr int kSteps = 400;
    const auto optimizer = entry.make(options, rank.ctx, *workload, kSteps);
    for (int step = 0; step < kSteps; ++step) {
      workload->forward(rank.ctx);
      workload->backward(rank.ctx, [&](Bucket& bucket) { optimizer->step(rank.ctx, bucket); });
    }
    const Quality quality = workload->evaluate(workload->weights().floats(), kAllSamples);
    std::printf("%-8s loss %.3f, accuracy %.3f\n", entry.name.c_str(), quality.loss,
                quality.accuracy.value());
    EXPECT_GT(quality.accuracy.value(), 0.80) << entry.name;
    EXPECT_LT(quality.loss, 0.58) << entry.name;
  }
}

TEST_F(FashionMnist, IsEvaluatedOnTheRequestedNumberOfImages) {
  HostDevice host;
  LoneRank rank(host);
  const auto workload = make(Json::object())->make(rank.ctx, 1);
  const std::span<const float> weights = workload->weights().floats();
  EXPECT_EQ(workload->evaluate(weights, kAllSamples).loss,
            workload->evaluate(weights, 10'000).loss);
  const double correct = 300 * workload->evaluate(weights, 300).accuracy.value();
  EXPECT_NEAR(correct, std::round(correct), 1e-9);
  EXPECT_NE(workload->evaluate(weights, 300).loss, workload->evaluate(weights, 299).loss);
}

TEST_F(FashionMnist, LearnsTheSameWhenPricedAsAnotherModel) {
  HostDevice host;
  LoneRank plain(host), priced(host);
  const auto own = make(Json::object())->make(plain.ctx, 1);
  const auto large = make({{"priced_as", "bert_large"}})->make(priced.ctx, 1);
  const Quality a = train(*own, plain, 50, 0.05f), b = train(*large, priced, 50, 0.05f);
  EXPECT_LT(a.loss, 1.5);
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(a.accuracy, b.accuracy);
  EXPECT_EQ(plain.stream.computed_s, 0);
  EXPECT_NEAR(priced.stream.computed_s, 50 * 0.53, 1e-6);
}

}  // namespace
}  // namespace trigram::fashion_mnist_test
