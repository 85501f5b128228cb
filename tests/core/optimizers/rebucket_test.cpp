// Optimizers whose buckets change between two steps. An optimizer treats every tensor, or every
// element, alike in whatever bucket it is, so that the weights of a run in one bucket are the
// oracle of all others.

#include <gtest/gtest.h>

#include "core/check.h"
#include "tests/core/optimizers/mixed_tensors.h"
#include "tests/support/lone_rank.h"

namespace trigram::test::rebucket_test {
namespace {

constexpr std::size_t kOneBucket = 1 << 30;

const std::vector<Json>& every_optimizer() {
  static const std::vector<Json> all = {
      {{"name", "sgd"}, {"lr", 0.1}, {"decay", "linear"}},
      {{"name", "sgd"}, {"lr", 0.1}, {"momentum", 0.9}, {"weight_decay", 0.01}},
      {{"name", "adam"}, {"lr", 0.1}, {"warmup_steps", 3}},
      {{"name", "adamw"}, {"lr", 0.1}, {"weight_decay", 0.1}},
      "rmsprop",
      "adagrad",
      "lion",
      {{"name", "lamb"}, {"lr", 0.1}},
      {{"name", "lars"}, {"lr", 0.1}},
      {{"name", "muon"}, {"lr", 0.1}}};
  return all;
}

/// The weights after two steps in buckets of each of the given sizes in turn. `halves` is true if
/// steps are made by `accumulate` and `advance`.
std::vector<float> weights_after(const Json& config, const std::vector<std::size_t>& sizes,
                                 bool halves = false) {
  HostDevice host;
  LoneRank rank(host);
  MixedTensors model(host);
  model.bucketize(sizes.front());
  const auto optimizer = make_optimizer(config, rank.ctx, model);
  long step = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i > 0) {
      model.bucketize(sizes[i]);
      optimizer->rebucket(rank.ctx, model);
    }
    for (int k = 0; k < 2; ++k) {
      model.draw_gradients(++step);
      for (Bucket& bucket : model.buckets()) {
        if (!halves) optimizer->step(rank.ctx, bucket);
        else optimizer->accumulate(rank.ctx, bucket), optimizer->advance(rank.ctx, bucket);
      }
    }
  }
  return {model.weights().floats().begin(), model.weights().floats().end()};
}

TEST(Rebucket, KeepsTheStateOfEveryWeight) {
  ASSERT_EQ(every_optimizer().size(), optimizers().size() + 1);  // sgd with and without momentum
  for (const Json& config : every_optimizer()) {
    SCOPED_TRACE(config);
    const std::vector<float> expected = weights_after(config, std::vector(4, kOneBucket));
    for (const std::vector<std::size_t>& sizes :
         {std::vector<std::size_t>{kOneBucket, 0, 4000, kOneBucket},
          std::vector<std::size_t>{0, 20'000, 100, 0}})
      EXPECT_EQ(weights_after(config, sizes), expected);
  }
}

TEST(Rebucket, KeepsMoments) {
  for (const Json& config : {Json{{"name", "sgd"}, {"momentum", 0.9}}, Json{{"name", "adam"}}})
    EXPECT_EQ(weights_after(config, {4000, 0, kOneBucket}, true),
              weights_after(config, {kOneBucket, kOneBucket, kOneBucket}, true))
        << config;
}

TEST(Rebucket, IsRefusedInTheMiddleOfAStep) {
  HostDevice host;
  LoneRank rank(host);
  MixedTensors model(host);
  model.bucketize(0);
  const auto optimizer = make_optimizer("adam", rank.ctx, model);
  optimizer->step(rank.ctx, model.buckets()[0]);
  model.bucketize(kOneBucket);
  EXPECT_THROW(optimizer->rebucket(rank.ctx, model), InvariantError);
}

}  // namespace
}  // namespace trigram::test::rebucket_test
