// Training runs whose collectives are coupled flows, compared with runs that simulate all messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "tests/support/training.h"

namespace trigram::test::training_test {
namespace {

using Fidelity = SimOptions::Fidelity;

/// The results that do not depend on the fidelity.
void expect_same_result(const Trained& a, const Trained& b) {
  ASSERT_FALSE(a.weights.empty());
  EXPECT_EQ(a.weights, b.weights);
  ASSERT_EQ(a.counters.size(), b.counters.size());
  for (std::size_t rank = 0; rank < a.counters.size(); ++rank) {
    const Counters &x = a.counters[rank], &y = b.counters[rank];
    EXPECT_EQ(x.bytes_intra, y.bytes_intra);
    EXPECT_EQ(x.bytes_inter, y.bytes_inter);
    EXPECT_EQ(x.messages_intra, y.messages_intra);
    EXPECT_EQ(x.messages_inter, y.messages_inter);
  }
}

class FluidTraining : public ::testing::TestWithParam<NamedAlgorithm> {
 protected:
  Training training(Fidelity fidelity, bool values) const {
    Training training;
    training.algorithm = GetParam().spec;
    training.workload["values"] = values;
    training.cluster = small_cluster(4, 2);
    training.cluster.slow_workers = {{1, 1.3}};
    training.sim.fidelity = fidelity;
    return training;
  }
};

TEST_P(FluidTraining, GivesTheSameWeightsAndTraffic) {
  const Trained by_messages = train(training(Fidelity::message, true));
  for (const Fidelity fidelity : {Fidelity::fluid, Fidelity::automatic}) {
    const Trained fluid = train(training(fidelity, true));
    expect_same_result(by_messages, fluid);
    Trained phantom = train(training(fidelity, false));
    EXPECT_EQ(phantom.ended_s, fluid.ended_s);
    phantom.weights = by_messages.weights;
    expect_same_result(by_messages, phantom);
  }
}

/// The times, kinds and streams of a rank's events, in the order of time.
std::vector<std::tuple<double, double, int, std::string>> trace(const std::vector<Event>& events) {
  std::vector<std::tuple<double, double, int, std::string>> sorted;
  for (const Event& e : events) sorted.push_back({e.begin_s, e.end_s, e.kind, e.stream});
  std::ranges::sort(sorted);
  return sorted;
}

/// The algorithms include those whose decisions depend on time.
class FluidPhantoms : public FluidTraining {};

TEST_P(FluidPhantoms, WithAutoTakeAsLongAsByMessages) {
  const Trained by_messages = train(training(Fidelity::message, false));
  const Trained automatic = train(training(Fidelity::automatic, false));
  EXPECT_NEAR(automatic.seconds(), by_messages.seconds(), 0.01 * by_messages.seconds());
}

TEST_P(FluidPhantoms, HaveTheEventsOfRunsWithValues) {
  const auto run = [this](bool values) {
    Training traced = training(Fidelity::fluid, values);
    traced.events = true;
    return train(traced);
  };
  constexpr double kRounding = 1e-9;  // rounding of SimGrid's clock
  const Trained valued = run(true), phantom = run(false);
  ASSERT_FALSE(valued.ended_s.empty());
  EXPECT_EQ(phantom.ended_s, valued.ended_s);
  for (std::size_t rank = 0; rank < valued.events.size(); ++rank) {
    EXPECT_FALSE(valued.events[rank].empty());
    EXPECT_EQ(trace(phantom.events[rank]), trace(valued.events[rank])) << "rank " << rank;
    for (const auto& [begin_s, end_s, kind, stream] : trace(valued.events[rank])) {
      EXPECT_LE(begin_s, end_s + kRounding);
      EXPECT_LE(end_s, valued.ended_s[rank] + kRounding);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, FluidPhantoms, ::testing::ValuesIn(every_algorithm()),
                         TestName{});

/// The times of each rank in seconds: its end, its exposed communication, its computation.
std::vector<double> spent(const Trained& trained) {
  std::vector<double> all = trained.ended_s;
  for (const Counters& c : trained.counters) all.insert(all.end(), {c.exposed_s, c.compute_s});
  return all;
}

/// Rings of leaders and of all ranks, with other stragglers in every step. Each rank's times equal
/// those of a simulation by messages.
class FluidStragglers : public ::testing::TestWithParam<NamedAlgorithm> {};

TEST_P(FluidStragglers, TakeAsLongOnEveryRank) {
  for (const int workers_per_node : {1, 3}) {
    Training training;
    training.algorithm = GetParam().spec;
    training.workload = "vgg16";
    training.cluster = small_cluster(5, workers_per_node);
    training.cluster.slow_workers = {{1, 1.3}};
    training.cluster.stragglers = {2, 0.3, 3};
    training.steps = 6;
    const Trained by_messages = train(training);
    training.sim.fidelity = Fidelity::automatic;
    const Trained automatic = train(training);
    const auto expected = spent(by_messages), seen = spent(automatic);
    ASSERT_FALSE(expected.empty());
    ASSERT_EQ(seen.size(), expected.size());
    for (std::size_t i = 0; i < seen.size(); ++i)
      EXPECT_NEAR(seen[i], expected[i], 1e-6 * by_messages.seconds()) << i;
    const Json notes = Json::parse(automatic.notes);
    // The first ring of leaders is simulated by messages, like that of any group.
    const long first = workers_per_node > 1;
    const long buckets = training.steps * std::ssize(automatic.buckets);
    // An exchange among all is simulated by messages, and so is the ring of codes after it.
    const bool among_all = GetParam().name == "bytegrad";
    const Json expected_notes = {{"collectives_fluid", among_all ? 0 : buckets - first},
                                 {"collectives_by_messages", among_all ? 2 * buckets : first},
                                 {"collectives_sharing_links", 0}};
    EXPECT_EQ(notes, expected_notes);
  }
}

/// Workers begin every step at different times, so some begin the next exchange among all while the
/// ring of others goes on.
TEST(FluidSkew, RingsBetweenExchangesAmongAllTakeAsLongAsByMessages) {
  Training training;
  training.algorithm = {{"name", "qsgd"}, {"bucket", "1MB"}, {"hierarchical", false}};
  training.workload = "vgg16";
  training.cluster = small_cluster(4, 2);
  training.cluster.skew = {.smallest_s = 0, .largest_s = 1e-3};
  training.steps = 3;
  const Trained by_messages = train(training);
  training.sim.fidelity = Fidelity::automatic;
  const Trained automatic = train(training);
  const auto expected = spent(by_messages), seen = spent(automatic);
  ASSERT_EQ(seen.size(), expected.size());
  for (std::size_t i = 0; i < seen.size(); ++i)
    EXPECT_NEAR(seen[i], expected[i], 1e-9 * by_messages.seconds()) << i;
  EXPECT_EQ(Json::parse(automatic.notes).at("collectives_sharing_links"), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Rings, FluidStragglers,
    ::testing::Values(NamedAlgorithm{"gradient_allreduce",
                                     {{"name", "gradient_allreduce"}, {"hierarchical", true}}},
                      NamedAlgorithm{"bytegrad", {{"name", "bytegrad"}, {"hierarchical", true}}}),
    TestName{});

INSTANTIATE_TEST_SUITE_P(Algorithms, FluidTraining, ::testing::ValuesIn(deterministic_algorithms()),
                         TestName{});

}  // namespace
}  // namespace trigram::test::training_test
