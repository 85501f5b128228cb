// Profiles in configurations: measured step times, batches, groups of tensors.
#include "core/workloads/profile_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/workloads/registry.h"
#include "tests/support/config_errors.h"
#include "tests/support/lone_rank.h"

namespace trigram::profile_options_test {
namespace {

using test::LoneRank;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::unique_ptr<WorkloadFactory> factory(const Json& workload) {
  return make_workload_factory(resolve_workload(workload, "/workload", TRIGRAM_TEST_DATA),
                               "/workload");
}

/// tiny_profile.csv has five tensors, and takes 0.37 ms forward and 0.72 ms backward for a batch of
/// 4.
Json tiny(const Json& options) {
  Json workload = {{"name", "profile"}, {"path", "tiny_profile.csv"}};
  workload.update(options);
  return workload;
}
constexpr double kForward_s = 0.37e-3, kBackward_s = 0.72e-3;

/// A workload of one rank, with its clock.
struct TimedWorkload {
  explicit TimedWorkload(const Json& json) : workload(factory(json)->make(rank.ctx, 1)) {}
  double forward_s() {
    const double before_s = rank.stream.computed_s;
    workload->forward(rank.ctx);
    return rank.stream.computed_s - before_s;
  }
  /// The time at which each bucket is ready, in seconds after the beginning of the backward pass.
  std::vector<double> ready_s() {
    const double before_s = rank.stream.computed_s;
    std::vector<double> all;
    workload->backward(rank.ctx,
                       [&](Bucket&) { all.push_back(rank.stream.computed_s - before_s); });
    return all;
  }
  std::vector<std::size_t> lengths() {
    std::vector<std::size_t> all;
    for (const Bucket& bucket : workload->buckets()) all.push_back(bucket.grad.numel());
    return all;
  }
  NullDevice device;
  LoneRank rank{device};
  std::unique_ptr<Workload> workload;
};

std::string error_of(const Json& options) {
  return test::config_error_text([&] { factory(tiny(options)); });
}

TEST(ProfileOptions, AMeasuredStepScalesAllLayersByOneFactor) {
  for (const Json& options :
       {Json{{"step_time", "218ms"}}, Json{{"step_time", "218ms"}, {"batch", 32}}}) {
    TimedWorkload scaled(tiny(options));
    scaled.workload->bucketize(0);
    constexpr double kFactor = 218e-3 / (kForward_s + kBackward_s);
    EXPECT_NEAR(scaled.forward_s(), kFactor * kForward_s, 1e-12);
    const auto ready_s = scaled.ready_s();
    EXPECT_NEAR(ready_s.front(), kFactor * 0.1e-3, 1e-12);
    EXPECT_NEAR(ready_s.back(), kFactor * kBackward_s, 1e-12);
    EXPECT_EQ(scaled.workload->batch(), options.value("batch", 4));
    EXPECT_THAT(factory(tiny(options))->assumed(), IsEmpty());
  }
}

TEST(ProfileOptions, ABatchAloneScalesTimesInProportionAsAnAssumption) {
  const Json options = {{"batch", 32}};
  TimedWorkload scaled(tiny(options));
  scaled.workload->bucketize(0);
  EXPECT_NEAR(scaled.forward_s(), 8 * kForward_s, 1e-12);
  EXPECT_NEAR(scaled.ready_s().back(), 8 * kBackward_s, 1e-12);
  EXPECT_EQ(scaled.workload->batch(), 32u);
  EXPECT_THAT(factory(tiny(options))->assumed(),
              ElementsAre(HasSubstr("32 / 4 of the profile's times")));
  EXPECT_THAT(factory(tiny({{"batch", 4}}))->assumed(), IsEmpty()) << "as it was measured";
  EXPECT_THAT(factory(tiny(Json::object()))->assumed(), IsEmpty());
}

TEST(ProfileOptions, AlsoApplyToBuiltInProfiles) {
  TimedWorkload scaled({{"name", "resnet50"}, {"step_time", "120ms"}, {"batch", 32}});
  scaled.workload->bucketize(0);
  EXPECT_NEAR(scaled.forward_s() + scaled.ready_s().back(), 120e-3, 1e-9);
  EXPECT_EQ(scaled.workload->batch(), 32u);
}

TEST(ProfileOptions, AreNotDumpedUnlessGiven) {
  EXPECT_EQ(resolve_workload("vgg16", "", "/"), (Json{{"name", "vgg16"}}));
}

TEST(ProfileOptions, FlopsScaleWithTheBatch) {
  Profile profile;
  profile.batch = 4;
  profile.tensors = {{"a", 1, 1, 2, 400, 800}};
  const Profile other =
      adapted(profile, {.step_s = 6, .batch = 6, .accelerator = {}, .buckets = {}});
  EXPECT_EQ(other.tensors[0].forward_flops, 600);
  EXPECT_EQ(other.tensors[0].backward_flops, 1200);
  EXPECT_DOUBLE_EQ(other.tensors[0].forward_s, 2);
  EXPECT_DOUBLE_EQ(other.tensors[0].backward_s, 4);
}

// Backward completes third.weight 1001, second.bias 101, second.weight 20003, first.bias 50,
// first.weight 5000, in this order.
TEST(GroupsOfTensors, AreBuckets) {
  for (const char* buckets :
       {R"([["third.weight"], ["second.bias", "second.weight", "first.bias"], ["first.weight"]])",
        R"([{"first": 0, "last": 0}, {"first": 1, "last": 3}, {"first": 4, "last": 4}])",
        R"([["third.weight"], {"first": 1, "last": 3}, ["first.weight"]])"})
    // The algorithm's bucket size has no effect here.
    for (const std::size_t size : {0u, 1u << 30}) {
      TimedWorkload grouped(tiny({{"buckets", Json::parse(buckets)}}));
      grouped.workload->bucketize(size);
      EXPECT_THAT(grouped.lengths(), ElementsAre(1001, 101 + 20003 + 50, 5000)) << buckets;
      const auto ready_s = grouped.ready_s();
      EXPECT_NEAR(ready_s[0], 0.1e-3, 1e-12);
      EXPECT_NEAR(ready_s[1], 0.52e-3, 1e-12);
      EXPECT_NEAR(ready_s[2], 0.72e-3, 1e-12);
    }
}

TEST(GroupsOfTensors, HoldEveryTensorOnceInOrder) {
  const std::pair<const char*, const char*> errors[] = {
      {R"([["third.wieght"]])",
       R"(/buckets/0/0: unknown tensor "third.wieght"; expected "third.weight" (number 0) next; )"
       R"(did you mean "third.weight"?)"},
      {R"([["third.weight", "second.weight"]])",
       R"(/buckets/0/1: "second.weight" is not in the order in which the backward pass completes gradients; )"
       R"(expected "second.bias" (number 1) next)"},
      {R"([["third.weight"], ["third.weight"]])",
       R"(/buckets/1/0: "third.weight" is in a bucket already; expected "second.bias" (number 1) )"
       R"(next)"},
      {R"([["third.weight"]])",
       R"(/buckets: expected every tensor in a bucket; 4 of 5 are in none, from "second.bias" )"
       R"((number 1) on)"},
      {R"([{"first": 1, "last": 4}])",
       R"(/buckets/0/first: expected "third.weight" (number 0) next, not 1)"},
      {R"([{"first": 0, "last": 5}])", R"(/buckets/0/last: expected a tensor from 0 to 4, not 5)"},
      {R"([{"first": 0, "last": 4}, ["first.weight"]])",
       R"(/buckets/1/0: "first.weight" is in a bucket already; expected no more buckets)"},
      {R"([[]])", "/buckets/0: expected at least one tensor"},
      {R"([3])", "/buckets/0: expected a list of tensors' names"},
      {R"("all")", "/buckets: expected a list"},
  };
  for (const auto& [buckets, error] : errors)
    EXPECT_THAT(error_of({{"buckets", Json::parse(buckets)}}), HasSubstr(error)) << buckets;
  EXPECT_THAT(error_of({{"step_time", "0s"}}), HasSubstr("/workload/step_time"));
  EXPECT_THAT(error_of({{"batch", 0}}), HasSubstr("/workload/batch"));
}

}  // namespace
}  // namespace trigram::profile_options_test
