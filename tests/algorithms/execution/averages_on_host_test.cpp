#include <gtest/gtest.h>

#include "tests/support/training.h"

// Models that are averaged on the host: how much longer a step takes, and that nothing else
// changes.

namespace trigram::test::averages_on_host_test {
namespace {

constexpr double kModel = 4 * 138'357'544.0;  // VGG16, in bytes
constexpr double kHost_Bps = 1e9;

Training vgg16(const Json& algorithm, int nodes, long steps) {
  Training training;
  training.algorithm = algorithm;
  training.workload = "vgg16";
  training.cluster = small_cluster(nodes);
  training.cluster.accelerator.host_Bps = kHost_Bps;
  training.steps = steps;
  return training;
}

/// The seconds that averages on the host add to a run.
double added_s(Training training) {
  const double before_s = train(training).seconds();
  training.algorithm["through_host"] = true;
  return train(training).seconds() - before_s;
}

struct Averaged {
  std::string name;
  Json algorithm;
  int models;  // number of models averaged into a worker's own in all steps of the test
};
void PrintTo(const Averaged& averaged, std::ostream* out) { *out << averaged.name; }

constexpr int kNodes = 8;
constexpr long kSteps = 4;

class AveragesOnHost : public ::testing::TestWithParam<Averaged> {};

/// If all workers take the same time, the time of the host's work is added to the run's: nothing
/// overlaps with it, not even the computation that overlaps with the exchange.
TEST_P(AveragesOnHost, TakeTheBytesOfTheModelsThatAreAveraged) {
  const Averaged& averaged = GetParam();
  const Training training = vgg16(averaged.algorithm, kNodes, kSteps);
  const double launches_s = kSteps * training.cluster.accelerator.launch_overhead_s;
  EXPECT_NEAR(added_s(training), averaged.models * kModel / kHost_Bps, launches_s + 1e-6);
}

INSTANTIATE_TEST_SUITE_P(
    Each, AveragesOnHost,
    ::testing::Values(
        Averaged{"local_sgd", {{"name", "local_sgd"}, {"sync_every", 2}}, 2},
        Averaged{
            "local_sgd_by_tensor", {{"name", "local_sgd"}, {"sync_every", 2}, {"bucket", "0B"}}, 2},
        Averaged{"dpsgd_ring", {{"name", "dpsgd"}}, 4 * 2}, Averaged{"sgp", {{"name", "sgp"}}, 4},
        Averaged{"sgp_two",
                 {{"name", "sgp"}, {"graph", {{"name", "n_peer_exponential"}, {"peers", 2}}}},
                 4 * 2},
        Averaged{
            "wagma_groups_of_four", {{"name", "wagma"}, {"group_size", 4}, {"tau", 4}}, 3 * 2 + 1},
        Averaged{"wagma_rings",
                 {{"name", "wagma"}, {"group_size", 4}, {"tau", 4}, {"group_allreduce", "ring"}},
                 3 + 1},
        Averaged{"wagma_coded",
                 {{"name", "wagma"}, {"group_size", 4}, {"tau", 4}, {"codec", "minmax_uint8"}},
                 3 * 3 + 1}),
    [](const auto& test) { return test.param.name; });

/// Two workers average with each other in every step, and each pays once per step. It may not pay
/// for the first step, nor for an average that is in flight at the end.
TEST(AveragesOnHostInPairs, ArePaidByBothWorkers) {
  constexpr long kManySteps = 10;
  Training training = vgg16({{"name", "adpsgd"}}, 2, kManySteps);
  training.cluster.inter = {100e9, 1e-6};  // an average takes less time than a step
  const double added = added_s(training);
  EXPECT_GT(added, (kManySteps - 3) * kModel / kHost_Bps);
  EXPECT_LT(added, kManySteps * kModel / kHost_Bps);
}

TEST(AveragesOnHostOfValues, LeaveWeightsAsTheyAre) {
  for (const char* world : {"sim", "threads"})
    for (const char* name : {"local_sgd", "dpsgd", "sgp"})
      for (const bool hierarchical : {false, true}) {
        Training training;
        training.world = world;
        training.cluster = small_cluster(3, 2);
        training.algorithm = {{"name", name}, {"hierarchical", hierarchical}};
        const auto plain = train(training).weights;
        training.algorithm["through_host"] = true;
        ASSERT_FALSE(plain.empty());
        EXPECT_EQ(train(training).weights, plain) << world << " " << name << hierarchical;
      }
}

}  // namespace
}  // namespace trigram::test::averages_on_host_test
