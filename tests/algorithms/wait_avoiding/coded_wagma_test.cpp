#include <gtest/gtest.h>

#include <cmath>

#include "core/device/host_device.h"
#include "core/workloads/quadratic.h"
#include "tests/support/training.h"

// Encoded groups of WAGMA-SGD on least squares, with ranks whose objectives differ. The loss of a
// code stays with the rank whose model was encoded, so the mean model follows that of the method
// without a codec.

namespace trigram::test::coded_wagma_test {
namespace {

constexpr int kRanks = 8;
constexpr std::size_t kDimension = 64;

/// The loss of the mean model after training, relative to the minimum.
double loss_of(const Json& codec, bool late, double lr = 0.05, long steps = 400) {
  Training training;
  training.algorithm = {{"name", "wagma"}, {"tau", 10}, {"group_size", 4}, {"codec", codec}};
  training.workload = {{"name", "quadratic"}, {"dimension", kDimension}, {"heterogeneity", 1}};
  training.cluster = small_cluster(kRanks);
  if (late) training.cluster.stragglers = {.count = 2, .delay_s = 1e-2};
  training.optimizer = {{"name", "sgd"}, {"lr", lr}};
  training.steps = steps + 5;  // the run ends between two global averages
  const Trained trained = train(training);
  std::vector<float> mean(kDimension, 0);
  for (const auto& weights : trained.weights)
    for (std::size_t i = 0; i < kDimension; ++i) mean[i] += weights[i] / kRanks;
  HostDevice host;
  const Quadratic problem(host, {.dimension = kDimension, .heterogeneity = 1},
                          {0, kRanks, training.seed});
  return problem.evaluate(mean, kAllSamples).loss;
}

TEST(CodedWagma, ConvergesLikeTheUncodedOne) {
  const double start = loss_of("none", false, 1e-9, 1);
  ASSERT_GT(start, 0.1);
  for (const bool late : {false, true}) {
    const double uncoded = loss_of("none", late);
    for (const Json& codec : {Json{{"name", "topk"}, {"density", 0.1}}, Json("topk"), Json("sign"),
                              Json("minmax_uint8"), Json("powersgd"), Json("qsgd")}) {
      const double coded = loss_of(codec, late);
      EXPECT_LT(coded, 2 * uncoded + 1e-3 * start) << codec << ", late: " << late;
    }
  }
}

}  // namespace
}  // namespace trigram::test::coded_wagma_test
