// The simulator's speed as ratios of processor times within one run: the full stack compared with
// the same messages in a hand-written program.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/bench/sim/ring_speed.h"
#include "tests/support/in_child.h"
#include "tests/support/simulate.h"
#include "tests/support/training.h"

namespace trigram::test::sim_speed_test {
namespace {

constexpr std::size_t kNumel = 25'600'000;

// There are several attempts, because other programs that use the machine's caches slow the larger
// of two compared programs more.
constexpr int kAttempts = 10;

void expect_fast(const Cluster& cluster, const Ring& ring) {
  constexpr double kLimit = 0.85;
  double ratio = 0;
  for (int i = 0; i < kAttempts && ratio < kLimit; ++i) {
    const Comparison c = compare_rings(cluster, ring, 5);
    for (const auto& pair : c.pairs)
      EXPECT_EQ(pair.full_stack.simulated_s, pair.hand_written.simulated_s);
    ratio = std::max(ratio, c.speed_ratio());
  }
  testing::Test::RecordProperty("speed_ratio", std::to_string(ratio));
  EXPECT_GE(ratio, kLimit);
}

TEST(SimSpeed, ring_of_128_in_lock_step) { expect_fast(ring_cluster(128), {kNumel, true, 2}); }

TEST(SimSpeed, ring_of_128_with_jitter) { expect_fast(ring_cluster(128, 0.1), {kNumel, true, 2}); }

TEST(SimSpeed, ring_of_128_with_uneven_chunks) {
  expect_fast(ring_cluster(128), {kNumel + 7, true, 2});
}

/// Expects that the full stack takes at most `limit` times as long as the hand-written program.
/// Each attempt runs a single pair: it takes seconds, so a short slow period of the machine has
/// little effect.
void expect_ring_of_1024_within(double limit, double jitter) {
  double ratio = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kAttempts && ratio > limit; ++i)
    ratio =
        std::min(ratio, 1 / compare_rings(ring_cluster(1024, jitter), {kNumel}, 1).speed_ratio());
  testing::Test::RecordProperty("time_over_hand_written", std::to_string(ratio));
  EXPECT_LE(ratio, limit);
}

TEST(SimSpeed, ring_of_1024_in_lock_step) { expect_ring_of_1024_within(1.3, 0); }

TEST(SimSpeed, ring_of_1024_with_jitter) { expect_ring_of_1024_within(1.3, 0.1); }

TEST(FluidSpeed, ring_of_1024_is_cheap_and_has_its_closed_form) {
  constexpr int P = 1024;
  const Cluster cluster = ring_cluster(P);
  const SimOptions automatic{.fidelity = SimOptions::Fidelity::automatic};
  const RingRun fluid = run_ring(cluster, {kNumel}, automatic);
  const double chunk_s = 4.0 * (kNumel / P) / cluster.inter.bandwidth_Bps;
  const double expected_s = 2 * (P - 1) * (cluster.inter.latency_s + chunk_s);
  EXPECT_NEAR(fluid.simulated_s, expected_s, 1e-9 * expected_s);
  const RingRun half = run_ring(cluster, {kNumel, false}, {});
  // The allreduce as a flow must take at most a twentieth of the processor time of all its
  // messages, which is twice the processor time of the messages of its reduce-scatter.
  EXPECT_LT(20 * fluid.cpu_s, 2 * half.cpu_s);
  RecordProperty("fluid_cpu_s", std::to_string(fluid.cpu_s));
}

/// The processor seconds of `steps` steps of BERT-Large on `nodes` nodes of 8 phantom workers.
double steps_cpu_s(long steps, int nodes, SimOptions::Fidelity fidelity, const char* bucket) {
  Training training;
  training.algorithm = {{"name", "gradient_allreduce"}, {"bucket", bucket}};
  training.workload = "bert_large";
  training.cluster.nodes = nodes;
  training.cluster.workers_per_node = 8;
  training.steps = steps;
  training.reports_steps = true;
  training.sim.fidelity = fidelity;
  return train(training).cpu_s;
}

/// The processor time of one step: the difference between a longer and a shorter run. The times of
/// both are minima over several runs. A minimum of differences would instead select the shorter run
/// that was disturbed most.
class StepCost {
 public:
  StepCost(int nodes, SimOptions::Fidelity fidelity, const char* bucket = "10MiB")
      : nodes_(nodes),
        fidelity_(fidelity),
        bucket_(bucket),
        many_(fidelity == SimOptions::Fidelity::message ? 2 : 4) {}
  void measure() {
    few_s_ = std::min(few_s_, steps_cpu_s(kFew, nodes_, fidelity_, bucket_));
    many_s_ = std::min(many_s_, steps_cpu_s(many_, nodes_, fidelity_, bucket_));
  }
  double cpu_s() const { return (many_s_ - few_s_) / static_cast<double>(many_ - kFew); }

 private:
  static constexpr long kFew = 1;
  int nodes_;
  SimOptions::Fidelity fidelity_;
  const char* bucket_;
  long many_;
  double few_s_ = std::numeric_limits<double>::infinity(), many_s_ = few_s_;
};

/// Compares 256, 1,024 and 4,096 workers. The data of 256 workers fit into a core's own cache, but
/// the data of 1,024 do not, so the first increase may be twice P log P. For comparison, P^2 would
/// be 3.2 times P log P.
TEST(FluidSpeed, a_step_costs_no_more_than_P_log_P) {
  const std::vector<int> nodes = {32, 128, 512};
  const auto P_log_P = [](int n) { return 8 * n * std::log(8 * n); };
  std::vector<StepCost> costs;
  for (const int n : nodes) costs.emplace_back(n, SimOptions::Fidelity::fluid);
  // The growth relative to P log P, from the previous number of workers.
  const auto growth = [&](std::size_t i) {
    return costs[i].cpu_s() / costs[i - 1].cpu_s() * P_log_P(nodes[i - 1]) / P_log_P(nodes[i]);
  };
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    for (StepCost& cost : costs) cost.measure();
    if (growth(1) <= 2 && growth(2) <= 1) break;
  }
  RecordProperty("growth_to_1024_over_P_log_P", std::to_string(growth(1)));
  RecordProperty("growth_to_4096_over_P_log_P", std::to_string(growth(2)));
  EXPECT_LE(growth(1), 2);
  EXPECT_LE(growth(2), 1);
}

/// There are 128 workers, because a simulation of all messages of 1,024 workers would take minutes.
TEST(FluidSpeed, a_step_costs_a_small_part_of_that_by_messages) {
  constexpr double kLimit = 20;
  StepCost messages(16, SimOptions::Fidelity::message, "100MiB");
  StepCost flows(16, SimOptions::Fidelity::fluid, "100MiB");
  double ratio = 0;
  for (int i = 0; i < kAttempts && ratio < kLimit; ++i) {
    messages.measure();
    flows.measure();
    ratio = messages.cpu_s() / flows.cpu_s();
  }
  RecordProperty("messages_over_flows", std::to_string(ratio));
  EXPECT_GE(ratio, kLimit);
}

TEST(FluidMemory, steps_of_thousands_of_workers_stay_below_a_gigabyte) {
  Training training;
  training.workload = "bert_large";
  training.steps = 4;
  training.reports_steps = true;
  training.sim.fidelity = SimOptions::Fidelity::fluid;
  struct Run {
    const char* algorithm;
    int nodes, workers_per_node;
  };
  for (const Run& run : {Run{"gradient_allreduce", 128, 8}, Run{"gradient_allreduce", 512, 8},
                         Run{"wagma", 1024, 1}}) {
    training.algorithm = run.algorithm;
    training.cluster.nodes = run.nodes;
    training.cluster.workers_per_node = run.workers_per_node;
    const Trained trained = train(training);
    ASSERT_FALSE(trained.ended_s.empty()) << run.algorithm;
    EXPECT_GT(trained.seconds(), 0);
    EXPECT_LT(trained.max_rss_kib, 1024 * 1024) << run.algorithm << " on " << run.nodes;
  }
}

TEST(SimSpeed, the_cost_of_a_message_grows_no_faster_than_simgrids) {
  constexpr double kLimit = 1.15;
  double growth = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kAttempts && growth > kLimit; ++i) {
    const double small = compare_rings(ring_cluster(64), {kNumel, false, 64}, 5).speed_ratio();
    const double large = compare_rings(ring_cluster(1024), {kNumel, false, 1}, 3).speed_ratio();
    // The growth of the full stack from 64 to 1,024 ranks, divided by that of the hand-written
    // program.
    growth = std::min(growth, small / large);
  }
  RecordProperty("growth", std::to_string(growth));
  EXPECT_LE(growth, kLimit);
}

TEST(SimMemory, a_thousand_ranks_of_two_streams_stay_below_a_quarter_gigabyte) {
  const auto peak = values_from_child<long>([] {
    make_sim_runtime({}, round_cluster(128, 8))->launch(Layout(128, 8), [](const Context& ctx) {
      auto comm = ctx.stream->fork("comm");
      ctx.stream->wait(*comm->submit(ctx, [](const Context& c) {
        const int next = (c.rank() + 1) % c.size(), previous = (c.rank() + c.size() - 1) % c.size();
        for (int i = 0; i < 10; ++i)
          c.comm->transfer(
              std::vector<Transfer>{{Transfer::recv, phantom_bytes(1'000'000), previous},
                                    {Transfer::send, phantom_bytes(1'000'000), next}});
      }));
    });
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return std::vector<long>{usage.ru_maxrss};
  });
  ASSERT_EQ(peak.size(), 1u);
  EXPECT_LT(peak[0], 256 * 1024) << "KiB";
}

}  // namespace
}  // namespace trigram::test::sim_speed_test
