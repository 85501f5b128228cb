#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "netmodels/cluster_network.h"
#include "netmodels/network/lower_bound.h"
#include "tests/support/training.h"

// Every option has an effect in the right direction: more bytes, more latency, less bandwidth, a
// slower worker or a slower accelerator never make training faster.

namespace trigram::test::metamorphic_test {
namespace {

/// A change of a training run that makes it slower.
struct Knob {
  std::string name;
  std::function<void(Training&)> turn;
  bool always_slower;  // true: for every algorithm; false: for at least one algorithm
};

std::vector<Knob> knobs() {
  const std::string data = TRIGRAM_TEST_DATA;
  return {
      {"twice the bytes",
       [data](Training& t) { t.workload = "profile:" + data + "/tiny_profile_double.csv"; }, true},
      {"ten times the latency between nodes", [](Training& t) { t.cluster.inter.latency_s *= 10; },
       true},
      {"half the bandwidth between nodes", [](Training& t) { t.cluster.inter.bandwidth_Bps /= 2; },
       true},
      {"ten times the latency inside nodes", [](Training& t) { t.cluster.intra.latency_s *= 10; },
       false},
      {"a tenth of the bandwidth inside nodes",
       [](Training& t) { t.cluster.intra.bandwidth_Bps /= 10; }, false},
      {"a host bridge in place of a crossbar",
       [](Training& t) {
         t.cluster.intra.kind = IntraKind::pcie;
         t.cluster.intra.bridge_Bps = t.cluster.intra.bandwidth_Bps / 10;
       },
       false},
      {"a host bridge that messages between nodes pass, too",
       [](Training& t) {
         t.cluster.intra.kind = IntraKind::pcie;
         t.cluster.intra.gpudirect = false;
         t.cluster.intra.bridge_Bps = t.cluster.inter.bandwidth_Bps / 2;
       },
       true},
      {"a narrow link between nodes",
       [](Training& t) {
         t.cluster.topology = {"torus", {{"dimensions", {2}}, {"bandwidth", "0.05GB/s"}}};
       },
       true},
      {"a long link between nodes",
       [](Training& t) {
         t.cluster.topology = {"torus", {{"dimensions", {2}}, {"latency", "1ms"}}};
       },
       true},
      // A slow worker need not slow all algorithms down: if it is slightly late, two messages that
      // would have shared a NIC may be sent one after another. If all workers exchange with the
      // same rank (a server, or the centre of a star), even a worker that takes twice as long may
      // not be served last.
      {"a slow worker",
       [](Training& t) {
         t.cluster.slow_workers = {{1, 2}};
       },
       false},
      {"a very slow worker",
       [](Training& t) {
         t.cluster.slow_workers = {{1, 4}};
       },
       true},
      {"a straggler", [](Training& t) { t.cluster.stragglers = {.count = 1, .delay_s = 0.1}; },
       true},
      {"longer delays of more stragglers",
       [](Training& t) { t.cluster.stragglers = {.count = 2, .delay_s = 0.2}; }, true},
      {"headers that take half of the network",
       [](Training& t) { t.cluster.transport.goodput = 0.5; }, true},
      {"software that moves half of what a NIC could",
       [](Training& t) { t.cluster.transport.node_cap_Bps = 0.05e9; }, true},
      {"connections that move a quarter of that",
       [](Training& t) { t.cluster.transport.connection_cap_Bps = 0.0125e9; }, true},
      {"small windows",
       [](Training& t) {
         t.cluster.transport.tcp.window_bytes = 100;  // smaller than any message
       },
       true},
      {"software that takes time for messages",
       [](Training& t) { t.cluster.transport.message_overhead_s = 1e-3; }, true},
      {"streams that move an eighth of what a NIC could",
       [](Training& t) { t.cluster.transport.stream_cap_Bps = 0.0125e9; }, true},
      {"software that takes time for parts of messages",
       [](Training& t) {
         t.cluster.transport.streams = 2;
         t.cluster.transport.stream_overhead_s = 1e-3;
       },
       true},
      {"software that takes time for stages",
       [](Training& t) { t.cluster.transport.stage_overhead_s = 1e-3; }, true},
      {"single connections for what is not a ring or tree",
       [](Training& t) {
         t.cluster.transport.stream_cap_Bps = 0.0125e9;
         t.cluster.transport.channels = 8;
       },
       false},
      {"packets that are lost",
       [](Training& t) {
         t.cluster.transport.loss = 0.01;
         t.cluster.transport.segment_bytes = 0.0125e9 * 2 * t.cluster.inter.latency_s / 12.2;
       },
       true},
      {"NICs that are shaped",
       [](Training& t) {
         t.cluster.inter.shaping = {t.cluster.inter.bandwidth_Bps / 8, 100};
       },
       true},
      {"NICs that are shaped, and have no credit at the start",
       [](Training& t) {
         t.cluster.inter.shaping = {t.cluster.inter.bandwidth_Bps / 8, 100, 0};
       },
       true},
      {"bandwidth that is lost after a while",
       [](Training& t) {
         t.cluster.inter.profile = {{1e-3, 0.25, 1}};
       },
       true},
      {"latency that grows after a while",
       [](Training& t) {
         t.cluster.inter.profile = {{1e-3, 1, 10}};
       },
       true},
      {"traffic of others",
       [](Training& t) {
         t.cluster.inter.background = {0.5, 1e5, 1};
       },
       false},
      {"computation that suffers from messages",
       [](Training& t) { t.cluster.accelerator.overlap_slowdown = 3; }, false},
      {"codecs that are slow", [](Training& t) { t.cluster.accelerator.codec_Bps = 1e8; }, false},
      {"reductions that are slow", [](Training& t) { t.cluster.accelerator.reduction_Bps = 1e8; },
       false},
      {"copies that are slow", [](Training& t) { t.cluster.accelerator.copy_Bps = 1e8; }, false},
      {"patterns that networks carry badly",
       [](Training& t) {
         t.cluster.transport.efficiency = {
             .leaders = 0.25, .all_to_all = 0.25, .point_to_point = 0.25, .server = 0.25};
       },
       false},
      {"delays that grow from worker to worker",
       [](Training& t) { t.cluster.skew = {.smallest_s = 0.05, .largest_s = 0.4}; }, true},
      {"a tenth of the memory bandwidth",
       [](Training& t) { t.cluster.accelerator.memory_Bps = kV100MemoryBps / 10; }, true},
      {"ten times the launch overhead",
       [](Training& t) { t.cluster.accelerator.launch_overhead_s *= 10; }, true},
      // With one more step, the run may end while a background average is still in flight.
      {"two more steps", [](Training& t) { t.steps += 2; }, true},
  };
}

/// The algorithms whose number of messages does not depend on timing.
std::vector<NamedAlgorithm> algorithms_of_fixed_volume() {
  auto all = every_algorithm();
  std::erase_if(all, [](const auto& a) {
    return a.name == "async_model_average_by_time" || a.spec.at("name") == "dsgd_aau";
  });
  return all;
}

Training base(const NamedAlgorithm& algorithm) {
  Training training;
  training.algorithm = algorithm.spec;
  training.workload = std::string("profile:") + TRIGRAM_TEST_DATA + "/tiny_profile.csv";
  training.cluster = small_cluster(2, 2);
  training.cluster.inter.bandwidth_Bps = 0.1e9;
  training.steps = 4;
  return training;
}

/// A relative tolerance, because the parts of an interrupted time may be added in another order.
constexpr double kRounding = 1e-12;

class Metamorphic : public ::testing::TestWithParam<NamedAlgorithm> {};

/// True for algorithms in which a small delay can change the order of events, which sometimes saves
/// time. Asynchronous servers exchange with the first requester, and a fusion buffer exchanges the
/// buckets that are ready when its cycle begins. If some servers have larger loads, a delay may
/// separate their messages. If workers begin a step at different times, the workers of a node may
/// or may not gossip over its NIC at the same time.
bool is_sensitive_to_order(const NamedAlgorithm& algorithm) {
  return algorithm.spec.at("name") == "async_parameter_server" ||
         algorithm.spec.at("name") == "ssp" || algorithm.spec.at("name") == "async_diloco" ||
         algorithm.spec.contains("fusion_buffer") ||
         algorithm.spec.value("assignment", "") == "djb2" ||
         algorithm.spec.value("priority", "") == "need" || algorithm.name == "gossipgrad_ring";
}

/// The knobs that are turned for an algorithm: all with the variable TRIGRAM_EVERY_KNOB, which the
/// slow tests set, otherwise every sixth, so that six successive algorithms turn all of them.
std::vector<Knob> chosen_knobs(const NamedAlgorithm& algorithm) {
  const std::vector<Knob> all = knobs();
  if (std::getenv("TRIGRAM_EVERY_KNOB") != nullptr) return all;
  const auto algorithms = algorithms_of_fixed_volume();
  const auto place = std::ranges::find(algorithms, algorithm.name, &NamedAlgorithm::name);
  std::vector<Knob> chosen;
  constexpr std::size_t kEvery = 6;
  for (auto i = static_cast<std::size_t>(place - algorithms.begin()) % kEvery; i < all.size();
       i += kEvery)
    chosen.push_back(all[i]);
  return chosen;
}

TEST_P(Metamorphic, KnobsNeverSpeedTrainingUp) {
  const double tolerance = is_sensitive_to_order(GetParam()) ? 0.1 : 0;
  const double before_s = train(base(GetParam())).seconds();
  for (const Knob& knob : chosen_knobs(GetParam())) {
    Training training = base(GetParam());
    knob.turn(training);
    const double after_s = train(training).seconds();
    EXPECT_GE(after_s, (1 - tolerance) * before_s * (1 - kRounding)) << knob.name;
    if (knob.always_slower && tolerance == 0) {
      EXPECT_GT(after_s, before_s) << knob.name;
    }
  }
}

TEST_P(Metamorphic, NoTimeIsBelowTheLowerBound) {
  const Training training = base(GetParam());
  const Trained trained = train(training);
  std::vector<Traffic> sent;
  for (const Counters& c : trained.counters)
    sent.push_back({c.bytes_intra, c.bytes_inter, c.messages_intra, c.messages_inter});
  const double bound_s = lower_bound(*make_network(training.cluster), sent);
  EXPECT_GT(bound_s, 0);
  EXPECT_GE(trained.seconds(), bound_s);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Metamorphic, ::testing::ValuesIn(algorithms_of_fixed_volume()),
                         TestName{});

TEST(Knobs, AllSlowSomeAlgorithmDown) {
  for (const Knob& knob : knobs()) {
    const auto is_slowed = [&](const NamedAlgorithm& algorithm) {
      Training training = base(algorithm);
      const double before_s = train(training).seconds();
      knob.turn(training);
      return train(training).seconds() > before_s;
    };
    EXPECT_TRUE(std::ranges::any_of(algorithms_of_fixed_volume(), is_slowed)) << knob.name;
  }
}

/// The mean run times are unchanged, but all workers wait for the slowest worker of each step.
TEST(Knobs, VaryingRunTimesSlowSynchronousTrainingDown) {
  Training training = base({"", Json{{"name", "gradient_allreduce"}}});
  training.steps = 40;
  double before_s = train(training).seconds();
  training.cluster.run_times.kind = RunTimes::Shape::lognormal;
  for (const double variation : {0.2, 0.5, 1.0}) {
    training.cluster.run_times.variation = variation;
    const double after_s = train(training).seconds();
    EXPECT_GT(after_s, before_s) << variation;
    before_s = after_s;
  }
}

/// A method that waits for all workers waits for the slowest one, and a ring waits for its slowest
/// connection.
TEST(Knobs, VaryingWorkersNodesAndConnectionsSlowSynchronousTrainingDown) {
  Training training = base({"", Json{{"name", "gradient_allreduce"}}});
  training.cluster = small_cluster(8);
  double before_s = train(training).seconds();
  for (const double variation : {0.1, 0.3}) {
    training.cluster.worker_variation = variation;
    const double after_s = train(training).seconds();
    EXPECT_GT(after_s, before_s) << variation;
    before_s = after_s;
  }
  training.cluster.transport.connection_cap_Bps = training.cluster.inter.bandwidth_Bps / 8;
  before_s = train(training).seconds();
  training.cluster.transport.variation = 0.3;
  EXPECT_GT(train(training).seconds(), before_s);
  training.cluster.transport = {.node_cap_Bps = training.cluster.inter.bandwidth_Bps / 8};
  before_s = train(training).seconds();
  training.cluster.transport.variation = 0.3;
  EXPECT_GT(train(training).seconds(), before_s);
}

/// Overlap hides communication, fusion saves latency, hierarchy saves traffic between nodes.
TEST(Knobs, ExecutionOptionsPayOff) {
  const auto seconds = [](Json algorithm) {
    return train(base({"", std::move(algorithm)})).seconds();
  };
  for (Json algorithm :
       {Json{{"name", "gradient_allreduce"}, {"bucket", "20kB"}},
        Json{{"name", "bytegrad"}, {"bucket", "20kB"}}, Json{{"name", "decentralized"}}}) {
    algorithm["overlap"] = false;
    const double after_s = seconds(algorithm);
    algorithm["overlap"] = true;
    EXPECT_LT(seconds(algorithm), after_s) << algorithm;
  }
  EXPECT_NE(seconds({{"name", "gradient_allreduce"}, {"bucket", "0B"}}),
            seconds({{"name", "gradient_allreduce"}, {"bucket", "10MiB"}}));
  EXPECT_LT(seconds({{"name", "decentralized"}, {"mode", "ring"}, {"hierarchical", true}}),
            seconds({{"name", "decentralized"}, {"mode", "ring"}, {"hierarchical", false}}));
}

/// Latency lengthens the negotiations of Horovod's cycles, and so the cycles' period, as well as
/// the exchanges. But in a longer period more buckets may be fused, which saves a little time.
TEST(Knobs, LatencyNeverSpeedsUpAFusionBuffer) {
  for (const char* cycle : {"1ms", "5ms"})
    for (const int negotiations : {1, 2}) {
      Training training = base({"", nullptr});
      training.cluster = small_cluster(4, 2);
      training.workload = "vgg16";
      training.steps = 2;
      training.algorithm = {{"name", "gradient_allreduce"},
                            {"bucket", "0B"},
                            {"fusion_buffer", {{"cycle", cycle}, {"negotiations", negotiations}}}};
      double before_s = 0;
      for (int halves = 0; halves <= 10; ++halves) {
        training.cluster.inter.latency_s = halves * 0.5e-3;
        const double seconds = train(training).seconds();
        EXPECT_GE(seconds, 0.97 * before_s) << cycle << " " << negotiations << " " << halves;
        before_s = std::max(before_s, seconds);
      }
    }
}

/// In OSGP, pushes are added some steps late, and are in flight during these steps. Training takes
/// as long as the computation or the pushes, whichever is longer, and the delay of a worker in a
/// single step does not delay other workers.
TEST(Knobs, OverlappedPushesAreHidden) {
  Training training = base({"", nullptr});
  training.cluster = small_cluster(4);
  training.cluster.inter.bandwidth_Bps = 1e9;
  training.steps = 40;
  const auto seconds = [&](const Json& algorithm) {
    training.algorithm = algorithm;
    return train(training).seconds();
  };
  const Json one_step = {{"name", "osgp"}}, three_steps = {{"name", "osgp"}, {"overlap_steps", 3}};
  const double compute_s = seconds({{"name", "local_sgd"}, {"sync_every", 1000}});
  const double blocking_s = seconds({{"name", "sgp"}}), overlapped_s = seconds(one_step);
  EXPECT_GT(blocking_s, 1.1 * compute_s) << "pushes take long enough to matter";
  EXPECT_LT(overlapped_s, 0.95 * blocking_s);
  EXPECT_GT(overlapped_s, compute_s);
  training.cluster.inter.bandwidth_Bps = 0.05e9;
  const double network_bound_s = seconds(one_step);
  EXPECT_LT(network_bound_s, seconds({{"name", "sgp"}}));
  EXPECT_LT(seconds(three_steps), 0.7 * network_bound_s) << "a third of the pushes";
  // In each step one of four workers is late by less than two steps.
  training.cluster.inter.bandwidth_Bps = 10e9;
  training.cluster.stragglers = {.count = 1, .delay_s = 1.5 * compute_s / 40};
  EXPECT_LT(seconds(three_steps), 0.85 * seconds({{"name", "sgp"}}));
}

/// A ring has P - 1 stages, each with the latency of one message; direct messages are all sent in
/// one stage.
TEST(Knobs, ADirectSecondPhaseOfScatterReduceSavesLatency) {
  Training training = base({"", Json{{"name", "bytegrad"}, {"hierarchical", false}}});
  training.cluster = small_cluster(4);
  training.cluster.inter.latency_s = 10e-3;  // everything else is short in comparison
  const auto latencies = [&](const char* phase2) {
    training.algorithm["phase2"] = phase2;
    return train(training).seconds() / training.cluster.inter.latency_s / training.steps;
  };
  EXPECT_NEAR(latencies("allgather") - latencies("direct"), 2, 0.2) << "of 3 + 3 and 3 + 1";
}

}  // namespace
}  // namespace trigram::test::metamorphic_test
