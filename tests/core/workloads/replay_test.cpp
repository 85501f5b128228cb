#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/device/timed_device.h"
#include "core/workloads/profile.h"
#include "core/workloads/registry.h"
#include "core/workloads/replay_workload.h"
#include "tests/support/config_errors.h"
#include "tests/support/lone_rank.h"

namespace trigram::replay_test {
namespace {

using test::LoneRank;
using ::testing::HasSubstr;

/// Tensors whose lengths are prime, square, narrow or odd, with FLOPs that fill rows, do not fill
/// rows, or are zero.
std::shared_ptr<Profile> awkward() {
  auto profile = std::make_shared<Profile>();
  profile->name = "awkward";
  const auto row = [&](const char* name, std::size_t numel, std::int64_t forward,
                       std::int64_t backward) {
    profile->tensors.push_back({name, numel, 1e-3, 2e-3, forward, backward});
  };
  row("square", 64 * 64, 2 * 64 * 64 * 7, 4 * 64 * 64 * 7);
  row("first", 12 * 27, 2 * 12 * 27 * 1000, 2 * 12 * 27 * 1000);
  row("prime", 10'007, 123'456, 246'912);
  row("less than a row", 400 * 100, 1'002, 2'004);
  row("embedding", 5'000, 0, 0);
  row("backward alone", 900, 0, 2 * 900 * 3);
  row("thrice", 30 * 31, 2 * 30 * 31 * 5, 6 * 30 * 31 * 5);
  return profile;
}

double flops(const Profile& profile) {
  double sum = 0;
  for (const ProfileTensor& row : profile.tensors)
    sum += static_cast<double>(*row.forward_flops + *row.backward_flops);
  return sum;
}

/// The FLOPs that one step of a workload charges, on a device that computes nothing.
double flops_of_a_step(const std::function<std::unique_ptr<Workload>(const Context&)>& make) {
  NullDevice null;
  LoneRank rank(null);
  TimedDevice timed(null, rank.stream);
  rank.ctx.device = &timed;
  const auto workload = make(rank.ctx);
  workload->bucketize(0);
  rank.stream.charged.clear();
  workload->forward(rank.ctx);
  workload->backward(rank.ctx, [](Bucket&) {});
  double sum = 0;
  for (const Cost& cost : rank.stream.charged) sum += cost.flops;
  return sum;
}

TEST(Replay, IssuesTheFlopsOfTheProfile) {
  for (const std::size_t buffer : {std::size_t{0}, std::size_t{10'000}, std::size_t{64} << 20}) {
    const double issued = flops_of_a_step([&](const Context& ctx) {
      return std::make_unique<ReplayWorkload>(ctx, awkward(), buffer, false, 1);
    });
    EXPECT_NEAR(issued, flops(*awkward()), 0.5) << "with buffers of " << buffer << " bytes";
  }
}

TEST(Replay, ForwardByBucketIssuesTheSameFlops) {
  NullDevice null;
  LoneRank rank(null);
  TimedDevice timed(null, rank.stream);
  rank.ctx.device = &timed;
  ReplayWorkload replay(rank.ctx, awkward(), 10'000, false, 1);
  replay.bucketize(20'000);
  rank.stream.charged.clear();
  std::vector<int> asked;
  replay.forward_by_bucket(rank.ctx, [&](Bucket& bucket) { asked.push_back(bucket.index); });
  double issued = 0, expected = 0;
  for (const Cost& cost : rank.stream.charged) issued += cost.flops;
  const auto profile = awkward();
  for (const ProfileTensor& row : profile->tensors)
    expected += static_cast<double>(*row.forward_flops);
  EXPECT_NEAR(issued, expected, 0.5);
  EXPECT_GT(asked.size(), 1u);
  EXPECT_TRUE(std::ranges::is_sorted(asked, std::greater<>()));
}

TEST(Replay, WeightsAndGradientsHaveTheirTrueSizes) {
  HostDevice host;
  LoneRank rank(host);
  ReplayWorkload replay(rank.ctx, awkward(), 10'000, true, 1);
  replay.bucketize(0);
  ASSERT_EQ(replay.buckets().size(), awkward()->tensors.size());
  for (std::size_t i = 0; i < replay.buckets().size(); ++i) {
    const ProfileTensor row = awkward()->tensors[awkward()->tensors.size() - 1 - i];
    for (const Tensor& x : {replay.buckets()[i].weight, replay.buckets()[i].grad}) {
      EXPECT_EQ(x.floats().size(), row.numel) << row.tensor;
      EXPECT_EQ(x.priced_numel(), row.numel);
    }
  }
  EXPECT_TRUE(replay.has_values());
  EXPECT_FALSE(replay.learns());
}

TEST(Replay, AGradientIsCompleteWhenItsBucketIsReady) {
  HostDevice host;
  LoneRank rank(host);
  ReplayWorkload replay(rank.ctx, awkward(), 10'000, true, 1);
  replay.bucketize(0);
  std::ranges::fill(replay.gradients().floats(), std::numeric_limits<float>::quiet_NaN());
  replay.forward(rank.ctx);
  const auto known = [](float g) { return std::isfinite(g) && std::abs(g) < 1; };
  int ready = 0;
  replay.backward(rank.ctx, [&](Bucket& bucket) {
    EXPECT_EQ(bucket.index, ready++);
    EXPECT_TRUE(std::ranges::all_of(bucket.grad.floats(), known)) << bucket.index;
    for (const Bucket& later : replay.buckets().subspan(static_cast<std::size_t>(ready)))
      EXPECT_TRUE(std::ranges::none_of(later.grad.floats(), known)) << "too early";
  });
  const auto nonzeros = [&](std::size_t tensor) {
    const auto g = replay.buckets()[awkward()->tensors.size() - 1 - tensor].grad.floats();
    return std::ranges::count_if(g, [](float x) { return x != 0; });
  };
  EXPECT_EQ(nonzeros(0), 64 * 64);
  EXPECT_EQ(nonzeros(2), 100 * 100) << "the largest square in a prime length";
  EXPECT_EQ(nonzeros(3), 0) << "its FLOPs do not pay for a row";
  EXPECT_EQ(nonzeros(4), 0);
}

TEST(Replay, SumsTheGradientOverThePieces) {
  HostDevice host;
  LoneRank rank(host);
  const auto gradient = [&](std::int64_t rows) {  // a piece holds 2 of these rows
    auto profile = std::make_shared<Profile>();
    profile->tensors = {{"w", 20 * 20, 0, 0, 2 * 400 * rows, 2 * 400 * rows}};
    ReplayWorkload replay(rank.ctx, profile, 2 * 20 * sizeof(float), true, 1);
    replay.bucketize(0);
    replay.backward(rank.ctx, [](Bucket&) {});
    const auto g = replay.gradients().floats();
    return std::vector<float>(g.begin(), g.end());
  };
  const auto one = gradient(2), three = gradient(6);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(three[i], 3 * one[i], 1e-9);
  EXPECT_GT(*std::ranges::max_element(one), 1e-7);
}

double flops_of(const Json& workload) {
  const auto factory =
      make_workload_factory(resolve_workload(workload, "/workload", "/"), "/workload");
  return flops_of_a_step([&](const Context& ctx) { return factory->make(ctx, 1); });
}

TEST(Replay, WorkGrowsWithTheBatch) {
  Json vgg16 = {{"name", "replay"}, {"profile", "vgg16"}, {"values", false}};
  const double whole = flops_of(vgg16);
  const double images = 32,
               multiply_adds = 15'470'264'320;  // multiply-adds of the forward pass for one image
  // The first layer has no gradient of its input.
  const double first_layer = 2.0 * 224 * 224 * 27 * 64;
  EXPECT_NEAR(whole, images * (3 * 2 * multiply_adds - first_layer), 1e-9 * whole);
  vgg16["batch"] = 8;
  EXPECT_NEAR(flops_of(vgg16), whole / 4, 1e-9 * whole);
}

TEST(Replay, IssuesTheFlopsOfBertLarge) {
  const double tokens = 6 * 384, hidden = 1024;
  const double blocks = 24 * (12 * hidden * hidden + 2 * 384 * hidden), head = 2 * hidden;
  const double expected = 3 * 2 * tokens * (blocks + head);
  const Json bert = {{"name", "replay"}, {"profile", "bert_large"}, {"values", false}};
  EXPECT_NEAR(flops_of(bert), expected, 1e-9 * expected);
}

std::string error_of(const Json& workload) {
  return test::config_error_text([&] {
    make_workload_factory(resolve_workload(workload, "/workload", TRIGRAM_TEST_DATA), "/workload");
  });
}

TEST(Replay, AProfileWithoutFlopsNeedsARate) {
  Json tiny = {{"name", "replay"}, {"profile", "profile:tiny_profile.csv"}, {"values", false}};
  EXPECT_THAT(error_of(tiny),
              HasSubstr("/workload/rate: missing: the profile \"tiny\" does not give FLOPs"));
  tiny["profile"] = std::string("profile:") + TRIGRAM_TEST_DATA + "/tiny_profile.csv";
  tiny["rate"] = "2GFLOP/s";
  EXPECT_NEAR(flops_of(tiny), 2e9 * (3.7e-4 + 7.2e-4), 10);
  EXPECT_THAT(
      error_of({{"name", "replay"}, {"profile", "vgg16"}, {"rate", "2GFLOP/s"}}),
      HasSubstr("/workload/rate: has no effect: the profile \"vgg16\" gives its FLOPs; remove it"));
  EXPECT_THAT(error_of({{"name", "replay"}, {"profile", "vgg61"}}), HasSubstr("vgg16"));
  EXPECT_THAT(error_of({{"name", "replay"}}), HasSubstr("/workload/profile: missing"));
}

}  // namespace
}  // namespace trigram::replay_test
