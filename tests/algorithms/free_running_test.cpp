#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "tests/support/expect_volume.h"

// Algorithms whose workers never wait for each other's gradients. The tests check their traffic,
// that a slow worker does not slow other workers, and that they end.

namespace trigram::test::free_running_test {
namespace {

std::uint64_t messages(const Counters& c) { return c.messages_intra + c.messages_inter; }
std::uint64_t bytes(const Counters& c) { return c.bytes_intra + c.bytes_inter; }

constexpr std::uint64_t kModel = 4 * 1003;  // in bytes; see training_of

/// Checks ten steps of AD-PSGD: for each average an active rank sends a message of `message` bytes
/// and receives one.
void expect_adpsgd_volume(const Json& spec, Nodes nodes, std::uint64_t message,
                          const std::function<bool(int rank)>& active) {
  SCOPED_TRACE(testing::Message() << spec << " on " << testing::PrintToString(nodes));
  Training training = training_of(spec, nodes);
  training.steps = 10;
  const Trained trained = train(training);
  const int ranks = nodes.nodes * nodes.workers;
  ASSERT_EQ(trained.counters.size(), static_cast<std::size_t>(ranks));
  const auto averages = 10u / spec.value("interval_steps", 1u);
  std::uint64_t requested = 0, answered = 0, actives = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const Counters& c = trained.counters[static_cast<std::size_t>(rank)];
    EXPECT_EQ(bytes(c), messages(c) * message);
    (active(rank) ? requested : answered) += messages(c);
    if (!active(rank)) continue;
    ++actives;
    EXPECT_LE(messages(c), averages);
  }
  EXPECT_EQ(requested, answered);
  // If the number of ranks of a bipartite graph is odd, one active rank has no partner in each
  // step.
  const bool one_alone = ranks % 2 != 0 && spec.value("graph", "bipartite") == "bipartite";
  EXPECT_EQ(requested, averages * (actives - (one_alone ? 1 : 0)));
}

TEST(AdPsgdVolume, IsAModelOrItsCodeEachWayPerAverage) {
  const auto even = [](int rank) { return rank % 2 == 0; };
  const auto centre = [](int rank) { return rank == 0; };
  for (const auto nodes : {Nodes{1, 1}, Nodes{2, 1}, Nodes{5, 1}, Nodes{2, 4}})
    for (const int interval : {1, 3}) {
      const Json spec = {{"name", "adpsgd"}, {"interval_steps", interval}};
      const auto with = [&](Json options) {
        options.update(spec);
        return options;
      };
      const int ranks = nodes.nodes * nodes.workers;
      const Json coded = {{"codec", "minmax_uint8"}};
      const Json star = {{"codec", "minmax_uint8"}, {"graph", "star"}};
      const Json ring = {{"codec", {{"name", "topk"}, {"density", 0.1}}}, {"graph", "ring"}};
      expect_adpsgd_volume(spec, nodes, kModel, even);
      expect_adpsgd_volume(with(coded), nodes, coded_bytes(1003), even);
      if (ranks > 1) expect_adpsgd_volume(with(star), nodes, coded_bytes(1003), centre);
      if (ranks == 2 || ranks == 8)  // 101 elements and their indices, 4 bytes each
        expect_adpsgd_volume(with(ring), nodes, 8 * 101, even);
    }
}

/// Both ranks of a pair that averages send a model. Two workers always average; the leaves of a
/// star average only with its centre.
TEST(DsgdAauVolume, IsAModelEachWayPerPairOfNeighbours) {
  for (const char* graph : {"ring", "star", "complete"})
    for (const auto nodes : {Nodes{1, 1}, Nodes{2, 1}, Nodes{5, 1}, Nodes{2, 4}}) {
      SCOPED_TRACE(testing::Message() << graph << " on " << testing::PrintToString(nodes));
      Training training = training_of({{"name", "dsgd_aau"}, {"graph", graph}}, nodes);
      training.steps = 10;
      training.events = true;
      const Trained trained = train(training);
      const auto ranks = static_cast<std::size_t>(nodes.nodes * nodes.workers);
      ASSERT_EQ(trained.counters.size(), ranks);
      std::map<std::pair<int, int>, int> sent;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(bytes(trained.counters[rank]), messages(trained.counters[rank]) * kModel);
        for (const Event& e : trained.events[rank])
          if (e.kind == Event::send) ++sent[{e.rank, e.peer}];
      }
      for (const auto& [pair, count] : sent)
        EXPECT_EQ(count, (sent[{pair.second, pair.first}])) << pair.first << " " << pair.second;
      if (ranks < 3) {
        EXPECT_EQ(messages(trained.counters[0]), ranks == 2 ? 10u : 0u);
      }
      for (const auto& [pair, count] : sent) {
        EXPECT_TRUE(graph != std::string("star") || pair.first == 0 || pair.second == 0);
      }
    }
}

/// A rank that has made its last step is in all later groups. With one step and a complete graph,
/// the k-th rank to finish forms a group with the k - 1 ranks before it, in which each rank sends
/// to all others. That takes k (k - 1) messages, or (P - 1) P (P + 1) / 3 in all, in whatever order
/// the ranks finish.
TEST(DsgdAauVolume, OfTheLastStepFollowsFromTheNumberOfWorkers) {
  for (const int ranks : {1, 2, 3, 4, 7}) {
    Training training = training_of({{"name", "dsgd_aau"}, {"graph", "complete"}}, Nodes{ranks, 1});
    training.steps = 1;
    std::uint64_t sum = 0;
    for (const Counters& c : train(training).counters) sum += messages(c);
    EXPECT_EQ(sum, static_cast<std::uint64_t>((ranks - 1) * ranks * (ranks + 1) / 3)) << ranks;
  }
}

TEST(AdPsgdRefuses, GraphsWithOddCycles) {
  const auto fits_on = [](const char* graph, int ranks) {
    return fits({"", {{"name", "adpsgd"}, {"graph", graph}}}, small_cluster(ranks));
  };
  for (int ranks = 1; ranks < 9; ++ranks) {
    EXPECT_TRUE(fits_on("bipartite", ranks));
    EXPECT_EQ(fits_on("ring", ranks), ranks == 1 || ranks % 2 == 0) << ranks;
    EXPECT_EQ(fits_on("complete", ranks), ranks <= 2) << ranks;
    EXPECT_EQ(fits_on("one_peer_exponential", ranks), false) << "directed";
  }
}

/// Steps take about a millisecond; messages take far less time.
Training busy_training(const Json& algorithm, int ranks) {
  Training training = training_of(algorithm, {ranks, 1});
  training.cluster.accelerator.flops_per_s = 4e9;
  training.steps = 30;
  return training;
}

TEST(AdPsgdStragglers, DoNotSlowOtherWorkers) {
  Training training = busy_training("adpsgd", 8);
  const Trained even = train(training);
  training.cluster.slow_workers = {{3, 4}};  // a passive rank
  const Trained slow = train(training);
  EXPECT_GT(slow.ended_s.at(3), 3 * even.ended_s.at(3));
  for (std::size_t active = 0; active < 8; active += 2)
    EXPECT_LT(slow.ended_s.at(active), 1.05 * even.ended_s.at(active)) << active;
  training.cluster.slow_workers = {{2, 4}};  // an active rank
  const Trained slow_active = train(training);
  EXPECT_GT(slow_active.ended_s.at(2), 3 * even.ended_s.at(2));
  for (const std::size_t active : {0, 4, 6})
    EXPECT_LT(slow_active.ended_s.at(active), 1.05 * even.ended_s.at(active)) << active;
}

/// The time at which the rank has computed its last step.
double last_step_s(const Trained& trained, std::size_t rank) {
  double end_s = 0;
  for (const Event& e : trained.events.at(rank))
    if (e.kind == Event::compute && e.stream == trained.events[rank].front().stream)
      end_s = std::max(end_s, e.end_s);
  return end_s;
}

TEST(SwarmStragglers, DoNotSlowOtherWorkersUnlessAveragesBlock) {
  Training training = busy_training({{"name", "swarm_sgd"}, {"local_steps", 2}}, 8);
  const Trained even = train(training);
  training.cluster.slow_workers = {{3, 4}};
  const Trained slow = train(training);
  EXPECT_GT(slow.ended_s.at(3), 3 * even.ended_s.at(3));
  for (const std::size_t rank : {0, 1, 2, 4, 5, 6, 7})
    EXPECT_LT(slow.ended_s.at(rank), 1.05 * even.ended_s.at(rank)) << rank;
  training.algorithm["mode"] = "blocking";
  const Trained blocked = train(training);
  for (const double ended_s : blocked.ended_s) EXPECT_GT(ended_s, 2 * even.ended_s.at(0));
}

/// After one average the delay has reached the partner of the delayed worker; after two averages it
/// has reached their partners, too.
TEST(SwarmStragglers, DelayTheirPartnersIfAveragesBlock) {
  Training training =
      busy_training({{"name", "swarm_sgd"}, {"local_steps", 1}, {"mode", "blocking"}}, 8);
  training.cluster.slow_workers = {{3, 50}};
  for (const int steps : {1, 2}) {
    training.steps = steps;
    const Trained trained = train(training);
    const double late_s = 0.2 * trained.seconds();
    EXPECT_EQ(std::count_if(trained.ended_s.begin(), trained.ended_s.end(),
                            [&](double ended_s) { return ended_s > late_s; }),
              steps == 1 ? 2 : 4);
  }
}

/// The other workers make their steps as fast as without the straggler; all workers wait only at
/// the end.
TEST(AsyncServerStragglers, DoNotSlowOtherWorkers) {
  Training training = busy_training({{"name", "async_parameter_server"}, {"servers", 2}}, 8);
  training.events = true;
  const Trained even = train(training);
  training.cluster.slow_workers = {{3, 4}};
  const Trained slow = train(training);
  EXPECT_GT(last_step_s(slow, 3), 3 * last_step_s(even, 3));
  for (const std::size_t rank : {0, 1, 2, 4, 5, 6, 7})
    EXPECT_LT(last_step_s(slow, rank), 1.05 * last_step_s(even, rank)) << rank;
}

/// The last of 30 steps begins when the slow worker has done 29 - s steps. With a bound of 0 the
/// run behaves like a method that waits for all ranks in every step; with a bound above the number
/// of steps, it behaves as if no worker were slow.
TEST(SspStragglers, AreWaitedForOnlyBeyondTheBound) {
  const auto run = [](const Json& algorithm, bool slow) {
    Training training = busy_training(algorithm, 8);
    training.events = true;
    if (slow) training.cluster.slow_workers = {{3, 4}};
    return train(training);
  };
  const auto ssp = [](long staleness) {
    return Json{{"name", "ssp"}, {"servers", 2}, {"staleness", staleness}};
  };
  const double even_s = last_step_s(run(ssp(29), false), 5);
  const double in_step_s = last_step_s(run({{"name", "parameter_server"}}, true), 5);
  double before_s = 1.15 * in_step_s;
  for (const long staleness : {0, 1, 3, 10}) {
    const Trained trained = run(ssp(staleness), true);
    const double slow_step_s = last_step_s(trained, 3) / 30, own_s = last_step_s(trained, 5);
    EXPECT_NEAR(own_s / slow_step_s, 29 - static_cast<double>(staleness), 1) << staleness;
    EXPECT_LT(own_s, before_s) << staleness;
    EXPECT_GT(own_s, 1.5 * even_s) << staleness;
    if (staleness == 0) {
      EXPECT_GT(own_s, 0.9 * in_step_s);
    }
    before_s = own_s;
  }
  EXPECT_NEAR(last_step_s(run(ssp(29), true), 5), even_s, 0.05 * even_s);
}

/// Two of three workers continue without the third until edges connect them. They need the third
/// worker in every second of their iterations, so they make two steps in the time of one of its
/// steps. With a method that waits for all workers in every step, they would make one.
TEST(DsgdAauStragglers, DelayOnlyIterationsThatNeedThem) {
  const auto run = [](const char* algorithm, int ranks, double factor) {
    Training training = busy_training({{"name", algorithm}, {"graph", "complete"}}, ranks);
    training.events = true;
    training.cluster.slow_workers = {{2, factor}};
    return train(training);
  };
  for (const double factor : {4.0, 8.0}) {
    const Trained adaptive = run("dsgd_aau", 3, factor), waits = run("dpsgd", 3, factor);
    for (const std::size_t fast : {0, 1}) {
      EXPECT_NEAR(last_step_s(adaptive, fast) / last_step_s(adaptive, 2), (14 + 2 / factor) / 30,
                  0.01);
      EXPECT_GT(last_step_s(waits, fast) / last_step_s(waits, 2), 27.0 / 30);
    }
  }
  EXPECT_LT(last_step_s(run("dsgd_aau", 8, 4), 0), 0.75 * last_step_s(run("dpsgd", 8, 4), 0));
}

class FreeRunning : public ::testing::TestWithParam<NamedAlgorithm> {};

TEST_P(FreeRunning, EndsAHundredTimes) {
  for (int run = 0; run < 100; ++run) {
    Training training;
    training.algorithm = GetParam().spec;
    training.cluster = small_cluster(run % 7 + 1, 1);
    training.steps = 8;
    training.seed = static_cast<std::uint64_t>(run);
    training.world = "threads";
    for (const auto& weights : train(training).weights)
      for (const float w : weights) ASSERT_TRUE(w - w == 0) << "run " << run;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Algorithms, FreeRunning,
    ::testing::Values(
        NamedAlgorithm{"adpsgd", {{"name", "adpsgd"}}},
        NamedAlgorithm{"adpsgd_coded", {{"name", "adpsgd"}, {"graph", "grid"}, {"codec", "sign"}}},
        NamedAlgorithm{"swarm_sgd", {{"name", "swarm_sgd"}, {"local_steps", 1}}},
        NamedAlgorithm{"swarm_sgd_geometric",
                       {{"name", "swarm_sgd"}, {"local_steps", 2}, {"interval", "geometric"}}},
        NamedAlgorithm{"async_parameter_server", {{"name", "async_parameter_server"}}},
        NamedAlgorithm{"async_parameter_server_coded",
                       {{"name", "async_parameter_server"}, {"codec", "minmax_uint8"}}},
        NamedAlgorithm{"ssp", {{"name", "ssp"}, {"staleness", 1}}},
        NamedAlgorithm{"ssp_coded", {{"name", "ssp"}, {"staleness", 0}, {"codec", "minmax_uint8"}}},
        NamedAlgorithm{"async_diloco", {{"name", "async_diloco"}, {"sync_every", 2}}},
        NamedAlgorithm{"async_diloco_dynamic",
                       {{"name", "async_diloco"},
                        {"sync_every", 3},
                        {"servers", "all"},
                        {"dynamic_steps", true},
                        {"codec", "minmax_uint8"}}},
        NamedAlgorithm{"dsgd_aau_ring", {{"name", "dsgd_aau"}}},
        NamedAlgorithm{"dsgd_aau_star", {{"name", "dsgd_aau"}, {"graph", "star"}}},
        NamedAlgorithm{"dsgd_aau_complete", {{"name", "dsgd_aau"}, {"graph", "complete"}}},
        NamedAlgorithm{
            "async_model_average_by_steps",
            {{"name", "async_model_average"}, {"interval_steps", 2}, {"warmup_steps", 1}}},
        NamedAlgorithm{"async_model_average_by_time",
                       {{"name", "async_model_average"}, {"interval", "20us"}}}),
    TestName{});

}  // namespace
}  // namespace trigram::test::free_running_test
