// Every algorithm is trained in every world. The workers' own optima are far apart, and they must
// find the common optimum.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "algorithms/registry.h"
#include "core/device/host_device.h"
#include "core/workloads/quadratic.h"
#include "runtime/mpi/mpi_runtime.h"
#include "tests/support/training.h"
#include "tests/support/worlds.h"

namespace trigram::test {
namespace {

constexpr long kSteps = 120, kFewSteps = 20;
constexpr std::uint64_t kSeed = 7;
constexpr double kNear = 0.35;  // relative to the distance at the beginning
const QuadraticOptions kProblem{.dimension = 37, .condition = 3, .heterogeneity = 1, .tensors = 5};

/// Two nodes of two workers. In a job there are as many workers as processes.
Cluster cluster() {
  if (!launched()) return small_cluster(2, 2);
  const int ranks = mpi_process().size, workers = ranks % 2 == 0 ? 2 : 1;
  return small_cluster(ranks / workers, workers);
}
int ranks() { return cluster().ranks(); }

double norm(const std::vector<double>& x) {
  double squares = 0;
  for (double value : x) squares += value * value;
  return std::sqrt(squares);
}

/// |w - w*| / |w*|: 1 at the beginning, 0 at the common optimum.
double distance(std::span<const float> weights, int workers = ranks()) {
  HostDevice device;
  const Quadratic problem(device, kProblem, {0, workers, kSeed});
  std::vector<double> off, whole;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    off.push_back(double{weights[i]} - double{problem.optimum()[i]});
    whole.push_back(double{problem.optimum()[i]});
  }
  return norm(off) / norm(whole);
}

TEST(Conformance12, AWorkerAloneDoesNotFindTheCommonOptimum) {
  if (launched()) GTEST_SKIP() << "has nothing to do with worlds";
  HostDevice device;
  for (int rank = 0; rank < ranks(); ++rank) {
    Quadratic own(device, kProblem, {rank, ranks(), kSeed});
    const Tensor w = device.empty(kProblem.dimension), g = device.empty(kProblem.dimension);
    own.initialise(w.floats());
    for (long step = 0; step < 2000; ++step) {
      own.forward(device, w);
      own.backward(device, w, g, [] {});
      device.axpby(-0.3f, g, 1, w);
    }
    EXPECT_GT(distance(w.floats()), 2 * kNear);
  }
}

/// Ensures that the suites that run over every_algorithm() cover every registered algorithm.
TEST(Conformance12, EveryRegisteredAlgorithmIsTrained) {
  std::set<std::string> trained;
  for (const NamedAlgorithm& algorithm : every_algorithm())
    trained.insert(algorithm.spec.at("name"));
  for (const AlgorithmEntry& entry : algorithms())
    EXPECT_TRUE(trained.contains(entry.name)) << entry.name;
}

class TrainingTest : public ::testing::TestWithParam<std::tuple<std::string, NamedAlgorithm>> {
 protected:
  void SetUp() override {
    const std::string reason = world_unavailable(std::get<0>(GetParam()));
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
};
/// True if this training must be a few steps towards an optimum that all workers share. Such a test
/// cannot detect whether deterministic algorithms end with the host's weights; gpu_agreement_test
/// covers that.
bool is_short(const std::string& world) { return world == "nccl" && short_training(); }

bool is_deterministic(const NamedAlgorithm& algorithm) {
  const auto all = deterministic_algorithms();
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& one) { return one.name == algorithm.name; });
}

INSTANTIATE_TEST_SUITE_P(Conformance12, TrainingTest,
                         ::testing::Combine(::testing::ValuesIn(world_names()),
                                            ::testing::ValuesIn(every_algorithm())),
                         [](const auto& tested) {
                           return std::get<0>(tested.param) + "_" + std::get<1>(tested.param).name;
                         });

TEST_P(TrainingTest, EveryWorkerApproachesTheCommonOptimum) {
  Training training;
  training.world = std::get<0>(GetParam());
  if (is_short(training.world) && is_deterministic(std::get<1>(GetParam())))
    GTEST_SKIP() << "gpu_agreement_test compares its weights with the host's";
  training.algorithm = std::get<1>(GetParam()).spec;
  training.workload = {{"name", "quadratic"},
                       {"dimension", kProblem.dimension},
                       {"condition", kProblem.condition},
                       {"heterogeneity", kProblem.heterogeneity},
                       {"tensors", kProblem.tensors}};
  training.cluster = cluster();
  training.cluster.accelerator.flops_per_s = 5e6;  // gradients take longer than messages
  training.optimizer = {{"name", "sgd"}, {"lr", 0.1}};
  const auto& entry = find_component(algorithms(), "algorithm", training.algorithm, "");
  if (entry.exchanges_moment) training.optimizer["momentum"] = 0.5;
  training.seed = kSeed;
  training.steps = kSteps;
  // In real time an asynchronous worker may finish before any average, and the last worker that
  // continues would pull all models to its own optimum. So the workers share one optimum in this
  // case.
  const std::set<std::string> free_running = {
      "async_model_average", "adpsgd",   "async_parameter_server",
      "async_diloco",        "dsgd_aau", "swarm_sgd"};
  const std::string& name = training.algorithm.at("name");
  // Encoded models that average with one peer at a time get only half of the way to the optimum.
  const bool seldom = training.algorithm.value("communication_interval", 1) > 1;
  double near = name == "deepsqueeze" || seldom ? 0.5 : kNear;
  if (name == "dgc") {  // this sends a tenth of a gradient at a time, with a momentum of 0.9
    training.optimizer["lr"] = 0.02;
    training.steps = 2 * kSteps;
  }
  // These algorithms make local steps, or use signs first of gradients and then of sums of moments,
  // so they need twice as many steps.
  if (training.algorithm.value("overlap_steps", 1) > 1 || name == "zeroone_adam") {
    training.optimizer["lr"] = 0.05;
    training.steps = 2 * kSteps;
  }
  // Majority votes converge to medians, not to means, in steps of constant length. If only
  // gradients are averaged, with one peer at a time, models stay as far apart as their optima.
  if (name == "signsgd_majority" || name == "gossipgrad") training.workload["heterogeneity"] = 0;
  if (name == "signsgd_majority") training.optimizer["lr"] = 0.02;
  // The length of these updates is constant, too.
  if (name == "demo" || name == "dion") training.optimizer["lr"] = 0.02;
  // Few directions are exchanged at a time, or late ones.
  if (name == "demo" || name == "dion") training.steps = 2 * kSteps;
  if (name == "dilocox") {
    training.optimizer["lr"] = 0.05;
    training.steps = 4 * kSteps;
    // Factors coded in 4 bits keep models at some distance from the optimum.
    if (training.algorithm.contains("codec")) near = 0.5;
  }
  // In simulated time, too, the arrival of messages of different lengths may decide which workers
  // average.
  const bool by_arrival = !is_simulated(training.world) || name == "dsgd_aau";
  if (by_arrival && free_running.contains(name)) {
    training.workload["heterogeneity"] = 0;
    near = 0.6;  // a late average undoes steps that were made since its snapshot
    // In a short run a late average may undo nearly all steps, if processes share cores.
    if (name == "async_model_average") training.steps = 4 * kSteps;
  }
  // A worker that happens to be faster contributes more samples, which moves the optimum.
  if (by_arrival && name == "dedloc") training.workload["heterogeneity"] = 0;
  // Of an odd number of workers, one has no partner in a round, and pairs do not agree with others.
  if (name == "noloco") near = 0.5;
  // A late worker is left out, and its encoded contribution arrives steps later.
  if (by_arrival && name == "wagma" && training.algorithm.contains("codec")) near = 0.5;
  if (is_short(training.world)) {
    training.workload["heterogeneity"] = 0;
    training.steps = kFewSteps;
    near = 1;  // nearer than at the beginning
  }
  if (!fits(std::get<1>(GetParam()), training.cluster)) GTEST_SKIP() << "not on so many ranks";
  const Trained trained = train(training);
  ASSERT_EQ(trained.weights.size(), static_cast<std::size_t>(ranks()));
  std::vector<float> mean(kProblem.dimension, 0.0f);
  const std::vector<int> workers = workers_of(training);
  const auto count = static_cast<int>(workers.size());
  for (const int worker : workers) {
    const auto& weights = trained.weights[static_cast<std::size_t>(worker)];
    ASSERT_EQ(weights.size(), kProblem.dimension);
    EXPECT_LT(distance(weights, count), near);
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += weights[i] / static_cast<float>(count);
  }
  // In real time the number of ranks varies, and some algorithms leave out late workers.
  const double nearer = (is_simulated(training.world) ? 0.5 : 0.7) * kNear;
  EXPECT_LT(distance(mean, count), near > kNear ? near : nearer);
}

}  // namespace
}  // namespace trigram::test
