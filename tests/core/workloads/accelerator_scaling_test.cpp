// Layer times on another accelerator, compared with the stated rule, computed by hand.
#include "core/workloads/accelerator_scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/workloads/profile_options.h"

namespace trigram::accelerator_scaling_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const AcceleratorRates kOld{"P100", 10e12, 500e9};
// An accelerator with 10 times the FLOP/s and twice the bandwidth.
const AcceleratorRates kNew{"NVIDIA A100-SXM4-80GB", 100e12, 1000e9};

/// Forward: the arithmetic of layer a takes 1 of its 4 s at peak rate, and b has no FLOPs.
/// Backward: the FLOPs of a would take longer than its time, and b has time to spare.
Profile measured() {
  Profile profile;
  profile.name = "two";
  profile.measured_on = kOld;
  profile.tensors = {{"a", 1, 4, 1, 10'000'000'000'000, 20'000'000'000'000},
                     {"b", 1, 2, 3, 0, 10'000'000'000'000}};
  return profile;
}

TEST(AcceleratorScaling, ArithmeticScalesWithFlopsAndTheRestWithMemory) {
  const ScaledTimes now = scaled_to(measured(), kNew);
  const auto& rows = now.profile.tensors;
  EXPECT_DOUBLE_EQ(rows[0].forward_s, 1 / 10.0 + 3 / 2.0);
  EXPECT_DOUBLE_EQ(rows[1].forward_s, 2 / 2.0);
  // Layer a has 2 s of arithmetic but takes only 1 s. The excess is attributed to b, whose own
  // arithmetic takes 1 s.
  EXPECT_DOUBLE_EQ(rows[0].backward_s, 1 / 10.0);
  EXPECT_DOUBLE_EQ(rows[1].backward_s, 2 / 10.0 + 1 / 2.0);
  EXPECT_DOUBLE_EQ(now.least_s, 10 / 10.0);
  EXPECT_DOUBLE_EQ(now.most_s, 10 / 2.0);
}

TEST(AcceleratorScaling, NeedsBothRatesAndFlopsAndAnotherMachine) {
  EXPECT_TRUE(can_scale(measured(), kNew));
  EXPECT_FALSE(can_scale(measured(), {"A100", 100e12, 0}));
  EXPECT_FALSE(can_scale(measured(), {"Tesla P100", 21e12, 732e9})) << "another precision";
  Profile unknown = measured();
  unknown.measured_on.memory_Bps = 0;
  EXPECT_FALSE(can_scale(unknown, kNew));
  Profile no_flops = measured();
  for (ProfileTensor& row : no_flops.tensors) row.forward_flops = row.backward_flops = {};
  EXPECT_FALSE(can_scale(no_flops, kNew));
}

TEST(AcceleratorScaling, NamesWithMoreWordsAreTheSameMachine) {
  EXPECT_TRUE(same_accelerator({"A100", 0, 0}, kNew));
  EXPECT_TRUE(same_accelerator({"rtx-2080 ti", 0, 0}, {"NVIDIA RTX 2080 Ti", 0, 0}));
  EXPECT_FALSE(same_accelerator(kOld, kNew));
  EXPECT_FALSE(same_accelerator({"", 0, 0}, kNew));
  EXPECT_TRUE(same_rates({"P100", 9.3e12, 732e9}, {"P100", 9.5e12, 720e9}));
  EXPECT_FALSE(same_rates({"P100", 9.3e12, 732e9}, {"P100", 10.6e12, 732e9}));  // PCIe, SXM
  EXPECT_FALSE(same_rates({"V100", 15.7e12, 900e9}, {"V100", 125e12, 900e9}));
}

TEST(AcceleratorScaling, IsAnAssumptionUnlessTheStepIsMeasured) {
  ProfileOptions options{
      .step_s = {}, .batch = {}, .accelerator = TargetAccelerator{kNew}, .buckets = {}};
  const Profile scaled = adapted(measured(), options);
  EXPECT_THAT(scaled.assumed,
              ElementsAre(HasSubstr("1000 to 5000 ms if all of it scaled with one")));
  LayerTimes times = layer_times(measured(), options);
  EXPECT_EQ(times.times_for.name, kNew.name);
  EXPECT_DOUBLE_EQ(times.step_s, 3.4);
  options.step_s = 6.8;
  const Profile timed = adapted(measured(), options);
  EXPECT_THAT(timed.assumed, ElementsAre());
  EXPECT_DOUBLE_EQ(timed.tensors[1].forward_s, 2) << "the shares of the measured machine";
  times = layer_times(measured(), options);
  EXPECT_EQ(times.times_for.name, "");
  EXPECT_DOUBLE_EQ(times.least_s, 6.8);
  EXPECT_DOUBLE_EQ(times.most_s, 6.8);
}

}  // namespace
}  // namespace trigram::accelerator_scaling_test
