#include <gmock/gmock.h>

#include <cmath>

#include "core/workloads/registry.h"
#include "tests/support/config_errors.h"
#include "tests/support/lone_rank.h"
#include "tests/support/text_files.h"

namespace trigram::test::text_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class TextWorkload : public ::testing::Test {
 protected:
  std::unique_ptr<WorkloadFactory> make(Json options) const {
    const Json small = {{"name", "text"}, {"width", 12},   {"layers", 1},
                        {"batch", 4},     {"held_out", 4}, {"data", file.path().string()}};
    Json all = small;
    all.update(options);
    for (const auto& [key, value] : options.items())
      if (value.is_null()) all.erase(key);
    return make_workload_factory(resolve_workload(all, "", "/"), "/w");
  }
  std::string error_of(const Json& options) const {
    return config_error_text([&] { make(options)->check_ranks(2); });
  }
  /// Plain gradient descent on one rank; returns the mean loss of the last ten steps.
  static double train(Workload& workload, LoneRank& rank, int steps, float lr) {
    workload.bucketize(0);
    double sum = 0;
    for (int step = 0; step < steps; ++step) {
      workload.forward(rank.ctx);
      workload.backward(rank.ctx, [&](Bucket& bucket) {
        rank.ctx.device->axpby(-lr, bucket.grad, 1, bucket.weight);
      });
      if (step >= steps - 10) sum += workload.loss() / 10;
    }
    return sum;
  }
  TextFile file;
};

TEST_F(TextWorkload, BothModelsLearnAndLossesAreInBitsPerByte) {
  for (const char* model : {"transformer", "gru"})
    for (const bool tied : {false, true}) {
      HostDevice host;
      LoneRank rank(host);
      const auto workload = make({{"model", model}, {"tied", tied}})->make(rank.ctx, 1);
      const auto quality = [&] {
        return workload->evaluate(workload->weights().floats(), kAllSamples);
      };
      EXPECT_NEAR(quality().loss, 8, tied ? 2 : 0.5);  // log2 of 256 bytes
      EXPECT_LT(quality().accuracy.value(), 0.3);
      const double loss = train(*workload, rank, 250, 0.3f);
      EXPECT_LT(loss, 2.2) << model;
      EXPECT_LT(quality().loss, 2.6) << model;
      EXPECT_GT(quality().accuracy.value(), 0.5);
    }
}

TEST_F(TextWorkload, IsEvaluatedOnTheRequestedNumberOfLines) {
  HostDevice host;
  LoneRank rank(host);
  const auto workload = make(Json::object())->make(rank.ctx, 1);
  const std::span<const float> weights = workload->weights().floats();
  EXPECT_EQ(workload->evaluate(weights, kAllSamples).loss, workload->evaluate(weights, 48).loss);
  EXPECT_NE(workload->evaluate(weights, 2).loss, workload->evaluate(weights, 1).loss);
}

TEST_F(TextWorkload, LearnsTheSameWhenPricedAsAnotherModel) {
  HostDevice host;
  LoneRank plain(host), priced(host);
  const auto own = make(Json::object())->make(plain.ctx, 1);
  const auto large = make({{"priced_as", "bert_large"}})->make(priced.ctx, 1);
  EXPECT_EQ(train(*own, plain, 20, 0.1f), train(*large, priced, 20, 0.1f));
  EXPECT_NEAR(priced.stream.computed_s, 20 * 0.53, 1e-6);
  EXPECT_TRUE(make(Json::object())->steps_differ());
  EXPECT_FALSE(make({{"priced_as", "bert_large"}})->steps_differ());
}

/// Without loss of lines, an epoch of one rank takes as many mean mini-batches as it has lines.
TEST_F(TextWorkload, TheTimeOfAPricedModelFollowsTheBytesOfItsMiniBatches) {
  HostDevice host;
  NullDevice null;
  const std::size_t lines = make(Json::object())->samples();
  ASSERT_NE(lines % 4, 0u) << "a last mini-batch should have fewer lines";
  for (const char* order : {"random", "balanced"}) {
    Json options = {{"priced_as", "bert_large"},
                    {"loader", {{"order", order}, {"drop_last", false}}}};
    LoneRank valued(host), phantom(null);
    train(*make(options)->make(valued.ctx, 1), valued, static_cast<int>(lines / 4 + 1), 0.1f);
    EXPECT_NEAR(valued.stream.computed_s, 0.53 * static_cast<double>(lines) / 4, 1e-6) << order;
    // The first mini-batch takes another time, as its lines are not of mean length, and the same
    // time if there are no values.
    LoneRank first(host);
    train(*make(options)->make(first.ctx, 1), first, 1, 0.1f);
    options["values"] = false;
    EXPECT_TRUE(make(options)->steps_differ());
    train(*make(options)->make(phantom.ctx, 1), phantom, 1, 0.1f);
    EXPECT_GT(std::abs(first.stream.computed_s / 0.53 - 1), 1e-3);
    EXPECT_EQ(first.stream.computed_s, phantom.stream.computed_s);
  }
}

/// A full budget of bytes takes the time of the profile.
TEST_F(TextWorkload, ABudgetOfTokensBoundsTheTimeOfAStep) {
  HostDevice host;
  LoneRank rank(host);
  const auto workload = make({{"priced_as", "bert_large"},
                              {"batch", nullptr},
                              {"loader", {{"order", "balanced"}, {"tokens", 60}}}})
                            ->make(rank.ctx, 1);
  workload->bucketize(0);
  double before_s = 0;
  for (int step = 0; step < 6; ++step) {
    workload->forward(rank.ctx);
    workload->backward(rank.ctx, [](Bucket&) {});
    const double step_s = rank.stream.computed_s - before_s;
    EXPECT_LE(step_s, 0.53 + 1e-9);
    EXPECT_GT(step_s, 0.53 * 41 / 60);  // the longest line, which may not fit, has 19 bytes
    before_s = rank.stream.computed_s;
  }
}

TEST_F(TextWorkload, MistakesHavePointersAndExpectations) {
  EXPECT_THAT(error_of({{"heads", 5}}), StartsWith("/heads: expected a divisor of the width 12"));
  EXPECT_THAT(error_of({{"model", "gru"}, {"heads", 2}}), HasSubstr("only a transformer"));
  EXPECT_THAT(error_of({{"context", 18}}), StartsWith("/w/context: expected at least 19"));
  EXPECT_NO_THROW(make({{"context", 19}}));
  EXPECT_THAT(error_of({{"batch", 30}}), StartsWith("/w/batch: expected at most "));
  EXPECT_THAT(error_of({{"held_out", 1}}), HasSubstr("/held_out"));
  const auto loader = [](const Json& options) { return Json{{"loader", options}}; };
  EXPECT_THAT(error_of(loader({{"tokens", 9}})),
              HasSubstr("/batch: the option tokens of the loader"));
  const Json budget = {{"batch", nullptr}, {"loader", {{"tokens", 9}}}};
  EXPECT_THAT(error_of(budget), StartsWith("/w/loader/tokens: expected at least 1"));
  EXPECT_THAT(error_of(loader({{"random_level", 0.5}})), HasSubstr("only the order balanced"));
  EXPECT_THAT(error_of(loader({{"order", "balanced"}, {"random_level", 1.5}})),
              StartsWith("/loader/random_level: expected a number from 0 to 1"));
  EXPECT_THAT(error_of({{"data", "/no/such/file"}}), StartsWith("/w/data: /no/such/file: "));
}

TEST(TextDefaults, HaveTheDocumentedNumbersOfParameters) {
  if (!std::filesystem::exists("/usr/lib/bible.data")) GTEST_SKIP() << "needs bible-kjv-text";
  const std::size_t w = 96, g = 224, rows = 256;
  const std::size_t transformer = 3 * (12 * w * w + 13 * w) + 2 * w + rows * w + rows + rows * w;
  const std::size_t gru = 6 * g * g + 6 * g + 2 * g + rows * g + rows + rows * g;
  EXPECT_EQ(transformer, 385'120u);
  EXPECT_EQ(gru, 417'792u);
  for (const auto& [model, numel] : {std::pair{"transformer", transformer}, {"gru", gru}}) {
    NullDevice null;
    LoneRank rank(null);
    const Json j = {{"name", "text"}, {"model", model}, {"values", false}};
    const auto factory = make_workload_factory(resolve_workload(j, "", "/"), "");
    EXPECT_EQ(factory->make(rank.ctx, 1)->weights().numel(), numel) << model;
    EXPECT_EQ(factory->input_files().size(), 1u);
  }
}

}  // namespace
}  // namespace trigram::test::text_test
