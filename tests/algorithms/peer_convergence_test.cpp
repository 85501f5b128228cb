#include <gtest/gtest.h>

#include <cmath>

#include "core/device/host_device.h"
#include "core/workloads/quadratic.h"
#include "tests/support/training.h"

// Methods over peer graphs on least squares, with ranks whose objectives differ. The gradient is
// linear and W conserves the mean, so the mean model follows the mean gradient to the optimum. With
// a constant learning rate lr the ranks stay apart by O(lr) (arXiv 1705.09056, 1902.00340).

namespace trigram::test::peer_convergence_test {
namespace {

constexpr int kRanks = 8;
constexpr std::size_t kDimension = 20;

struct End {
  double mean_loss;  // loss of the mean model, relative to the minimum
  double spread;     // square root of the consensus distance
};

std::vector<float> mean_of(const std::vector<std::vector<float>>& weights) {
  std::vector<float> mean(kDimension, 0);
  for (const auto& w : weights)
    for (std::size_t i = 0; i < kDimension; ++i) mean[i] += w[i] / kRanks;
  return mean;
}

double spread_of(const std::vector<std::vector<float>>& weights) {
  const std::vector<float> mean = mean_of(weights);
  double squares = 0;
  for (const auto& w : weights)
    for (std::size_t i = 0; i < kDimension; ++i) squares += std::pow(w[i] - mean[i], 2);
  return std::sqrt(squares / kRanks);
}

End end_of(const Json& algorithm, double lr, long steps) {
  Training training;
  training.algorithm = algorithm;
  training.workload = {{"name", "quadratic"}, {"dimension", kDimension}, {"heterogeneity", 1}};
  training.cluster = small_cluster(kRanks);
  training.optimizer = {{"name", "sgd"}, {"lr", lr}};
  training.steps = steps;
  training.world = "threads";
  const Trained trained = train(training);
  HostDevice host;
  const Quadratic problem(host, {.dimension = kDimension, .heterogeneity = 1},
                          {0, kRanks, training.seed});
  return {problem.evaluate(mean_of(trained.weights), kAllSamples).loss, spread_of(trained.weights)};
}

class PeerConvergence : public ::testing::TestWithParam<NamedAlgorithm> {};

TEST_P(PeerConvergence, MeanFindsTheOptimumAndTheSpreadFollowsTheLearningRate) {
  const Json& algorithm = GetParam().spec;
  const double start = end_of({{"name", "gradient_allreduce"}}, 1e-9, 1).mean_loss;
  const End fast = end_of(algorithm, 0.1, 800), slow = end_of(algorithm, 0.05, 1600);
  ASSERT_GT(start, 0.1);
  EXPECT_LT(fast.mean_loss, 1e-4 * start);
  EXPECT_LT(slow.mean_loss, 1e-4 * start);
  EXPECT_GT(fast.spread, 0.01) << "the ranks pull apart";
  EXPECT_GT(slow.spread / fast.spread, 0.4);
  EXPECT_LT(slow.spread / fast.spread, 0.65);
}

Json over(const char* name, const char* graph) { return {{"name", name}, {"graph", graph}}; }
Json coded(const char* name, const Json& codec) {
  Json algorithm = over(name, "ring");
  algorithm["codec"] = codec;
  if (name == std::string("choco_sgd")) algorithm["gamma"] = 0.2;
  return algorithm;
}

INSTANTIATE_TEST_SUITE_P(
    Methods, PeerConvergence,
    ::testing::Values(
        NamedAlgorithm{"dpsgd_ring", over("dpsgd", "ring")},
        NamedAlgorithm{"dpsgd_torus", over("dpsgd", "torus")},
        // The period is two steps, so both runs end at the same point of a period.
        NamedAlgorithm{"dpsgd_base_k",
                       {{"name", "dpsgd"}, {"graph", {{"name", "base_k"}, {"peers", 3}}}}},
        NamedAlgorithm{"dpsgd_shift_one", over("dpsgd", "shift_one")},
        NamedAlgorithm{"sgp_one_peer", over("sgp", "one_peer_exponential")},
        NamedAlgorithm{"sgp_static", over("sgp", "static_exponential")},
        NamedAlgorithm{"osgp_one_peer", over("osgp", "one_peer_exponential")},
        NamedAlgorithm{"moshpit", {{"name", "moshpit"}}},
        NamedAlgorithm{"swarm_sgd_blocking",
                       {{"name", "swarm_sgd"}, {"mode", "blocking"}, {"local_steps", 1}}},
        NamedAlgorithm{"dcd_psgd_ring", over("dcd_psgd", "ring")},
        NamedAlgorithm{"choco_sgd_ring", over("choco_sgd", "ring")},
        NamedAlgorithm{"choco_sgd_grid", over("choco_sgd", "grid")},
        NamedAlgorithm{"ecd_psgd_ring", over("ecd_psgd", "ring")},
        NamedAlgorithm{"deepsqueeze_ring", over("deepsqueeze", "ring")},
        NamedAlgorithm{"deepsqueeze_matching", over("deepsqueeze", "random_matching")},
        NamedAlgorithm{"dcd_psgd_qsgd", coded("dcd_psgd", "qsgd")},
        NamedAlgorithm{"choco_sgd_qsgd", coded("choco_sgd", "qsgd")},
        NamedAlgorithm{"choco_sgd_sign", coded("choco_sgd", "sign")},
        NamedAlgorithm{"choco_sgd_topk",
                       coded("choco_sgd", {{"name", "topk"}, {"density", 0.25}})}),
    TestName{});

}  // namespace
}  // namespace trigram::test::peer_convergence_test
