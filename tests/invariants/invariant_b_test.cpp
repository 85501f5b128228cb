#include <gtest/gtest.h>

#include <cstring>

#include "core/optimizers/registry.h"
#include "runtime/mpi/mpi_runtime.h"
#include "tests/support/idx_files.h"
#include "tests/support/text_files.h"
#include "tests/support/training.h"

// Invariant B: every deterministic algorithm ends with bitwise the same weights in every world.

namespace trigram::test::invariant_b_test {
namespace {

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// Trains in two worlds: in a process of an MPI job, in threads and in MPI's world; otherwise in
/// the simulation and in threads. Training must change the weights.
void expect_same_weights_in_two_worlds(Training training) {
  training.steps = 8;
  training.world = launched() ? "threads" : "sim";
  const Trained first = train(training);
  training.world = launched() ? "mpi" : "threads";
  const Trained second = train(training);
  ASSERT_FALSE(first.weights.empty());
  training.steps = 1;
  EXPECT_FALSE(same_bits(first.weights[0], train(training).weights[0])) << "nothing learned";
  for (std::size_t rank = 0; rank < first.weights.size(); ++rank)
    EXPECT_TRUE(same_bits(first.weights[rank], second.weights[rank])) << "rank " << rank;
}

class InvariantB : public ::testing::TestWithParam<NamedAlgorithm> {
 protected:
  void expect_same_weights(const Json& workload, int nodes, int workers) {
    if (launched() && mpi_process().size != nodes * workers) return;
    const Cluster cluster = small_cluster(nodes, workers);
    if (!fits(GetParam(), cluster)) return;
    trained_ = true;
    Training training;
    training.algorithm = GetParam().spec;
    training.workload = workload;
    training.cluster = cluster;
    expect_same_weights_in_two_worlds(training);
  }
  void TearDown() override {
    if (!trained_ && !IsSkipped() && !HasFailure())
      GTEST_SKIP() << "not on so many ranks, or not in a job of so many processes";
  }
  bool trained_ = false;
};

TEST_P(InvariantB, LeastSquares) {
  const Json workload = {
      {"name", "quadratic"}, {"dimension", 37}, {"noise", 0.5}, {"heterogeneity", 1}};
  expect_same_weights(workload, 2, 3);
  expect_same_weights(workload, 3, 1);
  if (!launched()) return;
  for (const int ranks : {1, 2, 7}) expect_same_weights(workload, ranks, 1);
  for (const int workers : {2, 4}) expect_same_weights(workload, 2, workers);
}

// Image classifiers are trained with four ranks only, also in a job. LeastSquares covers other
// numbers of ranks.
TEST_P(InvariantB, ImageClassifiers) {
  if (launched() && mpi_process().size != 4) GTEST_SKIP() << "takes four ranks";
  const IdxFolder data;
  for (const char* model : {"mlp", "cnn"})
    expect_same_weights(
        {{"name", "fashion_mnist"}, {"model", model}, {"batch", 5}, {"data", data.path().string()}},
        2, 2);
}

TEST_P(InvariantB, LanguageModels) {
  if (launched() && mpi_process().size != 4) GTEST_SKIP() << "takes four ranks";
  const TextFile data;
  for (const char* model : {"transformer", "gru"})
    expect_same_weights(data.small_workload(model), 2, 2);
}

TEST_P(InvariantB, UnevenMiniBatches) {
  if (launched() && mpi_process().size != 4) GTEST_SKIP() << "takes four ranks";
  const TextFile data;
  expect_same_weights(data.balanced_workload("gru"), 2, 2);
}

TEST_P(InvariantB, PricedAsAProfile) {
  expect_same_weights({{"name", "quadratic"},
                       {"dimension", 37},
                       {"noise", 0.5},
                       {"priced_as", "profile:" TRIGRAM_TEST_DATA "/tiny_profile.csv"}},
                      2, 2);
}

/// Every optimizer, on buckets that hold several tensors.
TEST(Optimizers, GiveTheSameWeightsInAllWorlds) {
  if (launched() && mpi_process().size != 4) GTEST_SKIP() << "takes four ranks";
  const IdxFolder data;
  for (const OptimizerEntry& optimizer : optimizers()) {
    SCOPED_TRACE(optimizer.name);
    Training training;
    training.algorithm = {{"name", "gradient_allreduce"}, {"bucket", "8kB"}};
    training.workload = {
        {"name", "fashion_mnist"}, {"model", "cnn"}, {"batch", 5}, {"data", data.path().string()}};
    training.optimizer = {{"name", optimizer.name}, {"lr", 0.01}};
    training.cluster = small_cluster(2, 2);
    expect_same_weights_in_two_worlds(training);
  }
}

TEST(UnevenShards, AreTheSameInAllWorldsAndChangeTheWeights) {
  if (launched()) GTEST_SKIP() << "simulates, with four ranks";
  const IdxFolder data;
  Training training;
  training.algorithm = "gradient_allreduce";
  training.workload = {{"name", "fashion_mnist"}, {"batch", 5}, {"data", data.path().string()}};
  training.cluster = small_cluster(2, 2);
  training.steps = 8;
  const Trained even = train(training);
  training.workload["sharding"] = {{"dirichlet", 0.2}};
  const Trained simulated = train(training);
  training.world = "threads";
  const Trained threaded = train(training);
  for (std::size_t rank = 0; rank < 4; ++rank)
    EXPECT_TRUE(same_bits(simulated.weights.at(rank), threaded.weights.at(rank)));
  EXPECT_FALSE(same_bits(simulated.weights[0], even.weights[0]));
}

/// Servers beside the workers have no data. The four workers among six ranks therefore have the
/// same shards as four ranks without such servers, and end with the same weights.
TEST(ServersBeside, DoNotChangeTheWeights) {
  if (launched()) GTEST_SKIP() << "simulates, with four ranks";
  const IdxFolder data;
  Training training;
  training.workload = {{"name", "fashion_mnist"},
                       {"batch", 5},
                       {"data", data.path().string()},
                       {"sharding", {{"dirichlet", 0.2}}}};
  training.optimizer["lr_scaling"] = "sqrt";
  training.steps = 8;
  for (const char* world : {"sim", "threads"}) {
    training.world = world;
    training.algorithm = {{"name", "parameter_server"}, {"servers", 2}, {"bucket", "4kB"}};
    training.cluster = small_cluster(2, 2);
    const Trained among = train(training);
    training.algorithm["placement"] = "beside";
    training.cluster = small_cluster(2, 3);
    const Trained beside = train(training);
    const std::vector<int> workers = workers_of(training);
    ASSERT_EQ(workers, (std::vector<int>{0, 1, 3, 4}));
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_TRUE(
          same_bits(beside.weights.at(static_cast<std::size_t>(workers[i])), among.weights.at(i)))
          << world << " " << i;
    training.algorithm["placement"] = "among";
    EXPECT_FALSE(same_bits(train(training).weights.at(0), among.weights.at(0)));
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, InvariantB, ::testing::ValuesIn(deterministic_algorithms()),
                         TestName{});

}  // namespace
}  // namespace trigram::test::invariant_b_test
