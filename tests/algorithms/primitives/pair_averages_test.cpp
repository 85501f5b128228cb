#include "algorithms/asynchronous/model_averager.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/optimizers/registry.h"
#include "tests/support/affine_workload.h"
#include "tests/support/codec_testing.h"
#include "tests/support/worlds.h"

// Averages in pairs without gradients: they conserve the sum of all models and bring models
// together, whatever a code loses.

namespace trigram::test::pair_averages_test {
namespace {

constexpr int kRanks = 4;
constexpr std::size_t kNumel = 200;

Values start(int rank) {
  Values x = normals(kNumel * kRanks, 3, 0);
  return {x.begin() + static_cast<long>(kNumel) * rank,
          x.begin() + static_cast<long>(kNumel) * (rank + 1)};
}

/// Each rank of a ring of four averages with one neighbour and then with the other, `rounds` times.
/// Returns all models, in the order of ranks.
std::vector<Values> models_after(int rounds, const std::string& world,
                                 const std::optional<CodecSpec>& codec) {
  const auto results = results_in_world(world, flat_cluster(kRanks), [&](Context ctx) {
    AffineWorkload workload(ctx, kNumel, 0);
    workload.bucketize(0);
    Steps steps(1);
    auto optimizer =
        find_component(optimizers(), "optimizer", "sgd", "")
            .make(resolve_component(optimizers(), "optimizer", "sgd", ""), ctx, workload, 1);
    Run run{workload, *optimizer, steps, {}, 5};
    const int rank = ctx.world_rank, along = rank % 2 == 0 ? 1 : kRanks - 1;
    const int first = (rank + along) % kRanks, second = (rank + kRanks - along) % kRanks;
    PairAverages averages(ctx, run, {first, second}, codec);
    const Values own = start(rank);
    const Tensor model = workload.weights(), change = ctx.device->empty(kNumel);
    std::copy(own.begin(), own.end(), model.floats().begin());
    for (int round = 0; round < rounds; ++round)
      for (const int partner : {first, second}) {
        averages.average(ctx, model, partner, change);
        ctx.device->axpby(1, change, 1, model);
      }
    return std::string(reinterpret_cast<const char*>(model.floats().data()),
                       kNumel * sizeof(float));
  });
  std::vector<Values> models;
  for (const std::string& bytes : results) {
    models.emplace_back(kNumel);
    EXPECT_EQ(bytes.size(), kNumel * sizeof(float));
    if (bytes.size() == kNumel * sizeof(float))
      std::memcpy(models.back().data(), bytes.data(), bytes.size());
  }
  return models;
}

struct Distance {
  double of_mean;  // largest element of the difference between the mean model and the initial mean
  double apart;    // root mean square distance of models from their mean
};

Distance distance(const std::vector<Values>& models) {
  Distance d{0, 0};
  for (std::size_t i = 0; i < kNumel; ++i) {
    double before = 0, now = 0, squares = 0;
    for (int r = 0; r < kRanks; ++r) {
      before += double{start(r)[i]} / kRanks;
      now += double{models[static_cast<std::size_t>(r)][i]} / kRanks;
    }
    for (const Values& x : models) squares += std::pow(double{x[i]} - now, 2);
    d.of_mean = std::max(d.of_mean, std::abs(now - before));
    d.apart += squares / kRanks / kNumel;
  }
  d.apart = std::sqrt(d.apart);
  return d;
}

class PairAveragesTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string reason = world_unavailable(GetParam());
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
};

TEST_P(PairAveragesTest, ExactOnesAreTheMeanAfterOneRound) {
  const Distance end = distance(models_after(1, GetParam(), std::nullopt));
  EXPECT_LT(end.apart, 1e-6);
  EXPECT_LT(end.of_mean, 1e-6);
}

/// Models are 1 apart at the start. Random numbers are as hard to encode as any other values.
TEST_P(PairAveragesTest, CodedOnesComeAsNearAsWanted) {
  const std::vector<std::pair<CodecSpec, int>> cases = {
      {{"minmax_uint8"}, 10},
      {{"fp16"}, 10},
      {{"sign"}, 100},
      {{"sign", {{"scale", "l1_mean"}}}, 400},
      {{"topk", {{"density", 0.1}}}, 200},
      {{"topk", {{"density", 0.01}}}, 1500},
      {{"randk", {{"density", 0.1}, {"unbiased", false}}}, 400},
      {{"qsgd"}, 100},
  };
  for (const auto& [codec, rounds] : cases) {
    SCOPED_TRACE(testing::Message() << codec.name << codec.options << ", " << rounds);
    const Distance end = distance(models_after(rounds, GetParam(), codec));
    EXPECT_LT(end.apart, 1e-3);
    EXPECT_LT(end.of_mean, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, PairAveragesTest, ::testing::ValuesIn(world_names()),
                         [](const auto& world) { return world.param; });

}  // namespace
}  // namespace trigram::test::pair_averages_test
