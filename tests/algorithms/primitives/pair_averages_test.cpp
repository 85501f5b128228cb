#include "algorithms/asynchronous/model_averager.h"

#include <gtest/gtest.h>

#include <cmath>

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
  const auto models = vectors_in_world(world, flat_cluster(kRanks), [&](Context ctx) {
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
    return to_values(model);
  });
  for (const Values& model : models) EXPECT_EQ(model.size(), kNumel);
  return models;
}

struct Distance {
  double
      mean_error;  // largest element of the difference between the mean model and the initial mean
  double spread;   // root mean square distance of models from their mean
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
    d.mean_error = std::max(d.mean_error, std::abs(now - before));
    d.spread += squares / kRanks / kNumel;
  }
  d.spread = std::sqrt(d.spread);
  return d;
}

class PairAveragesTest : public NamedWorldTest {};

TEST_P(PairAveragesTest, ExactAveragesReachTheMeanInOneRound) {
  const Distance end = distance(models_after(1, GetParam(), std::nullopt));
  EXPECT_LT(end.spread, 1e-6);
  EXPECT_LT(end.mean_error, 1e-6);
}

/// Models are 1 apart at the start. Random numbers are as hard to encode as any other values.
TEST_P(PairAveragesTest, CodedAveragesConvergeToTheMean) {
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
    EXPECT_LT(end.spread, 1e-3);
    EXPECT_LT(end.mean_error, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, PairAveragesTest, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::pair_averages_test
