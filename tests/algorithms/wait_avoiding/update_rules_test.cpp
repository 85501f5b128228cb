#include <gtest/gtest.h>

#include "algorithms/asynchronous/late_contributions.h"
#include "core/optimizers/registry.h"
#include "tests/support/affine_training.h"
#include "tests/support/affine_workload.h"
#include "tests/support/worlds.h"

// The update rules of the wait-avoiding algorithms, for workers in time and for late workers. They
// are computed by hand for the gradient g_r(x) = slope x + r + 1. All weights of a rank are equal.

namespace trigram::test::update_rules_test {
namespace {

constexpr double kLr = 0.125;

using Paths = std::vector<std::vector<double>>;  // weights after each step, by rank

/// The settings of a run, by default in the simulator.
struct Setting {
  Json algorithm;
  int ranks = 4;
  long steps = 3;
  double lr = kLr;
  bool start_at_rank = false;
  std::function<double(int rank, long step)> delay = {};
  std::string world = "sim";
};

/// Runs with rendezvous messages, so that all ranks finish a collective at the same time.
Paths trained_paths(const Setting& s) {
  Cluster cluster = flat_cluster(s.ranks);
  cluster.transport.protocol = Transport::Protocol::rendezvous;
  return paths(train({.world = s.world,
                      .cluster = cluster,
                      .algorithm = s.algorithm,
                      .steps = s.steps,
                      .lr = s.lr,
                      .start_at_rank = s.start_at_rank,
                      .compute_s = 1e-2,
                      .delay = s.delay}));
}

/// w' = x - lr g(x), by rank.
std::vector<double> stepped(const std::vector<double>& x, double slope = 0.5) {
  std::vector<double> w = x;
  for (std::size_t r = 0; r < x.size(); ++r)
    w[r] -= kLr * (slope * x[r] + static_cast<double>(r) + 1);
  return w;
}

std::vector<double> all_at_mean(const std::vector<double>& x) {
  return std::vector<double>(x.size(), mean(x));
}

/// The means of groups of ranks that differ only in the given bits.
std::vector<double> group_means(const std::vector<double>& x, std::size_t bits) {
  std::vector<double> means(x.size());
  for (std::size_t r = 0; r < x.size(); ++r) {
    double sum = 0, members = 0;
    for (std::size_t j = 0; j < x.size(); ++j)
      if ((j & ~bits) == (r & ~bits)) sum += x[j], members += 1;
    means[r] = sum / members;
  }
  return means;
}

Json wagma(int group_size, int tau) {
  return {{"name", "wagma"}, {"group_size", group_size}, {"tau", tau}};
}

/// These tests need the simulator, in which equally fast workers are never late. In the world of
/// threads, the operating system may delay any of them.
class WaitAvoidingRules : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = world_unavailable("sim");
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
};

TEST_F(WaitAvoidingRules, EagerSgdInTimeStepsWithTheMeanGradient) {
  for (const int P : {1, 3, 4, 8})
    for (const char* mode : {"solo", "majority"}) {
      const Paths path = trained_paths(
          {.algorithm = {{"name", "eager_sgd"}, {"mode", mode}, {"sync_every", 2}}, .ranks = P});
      double x = 1;
      for (const auto& after_step : path) {
        x -= kLr * (0.5 * x + (P + 1) / 2.0);
        expect_near(after_step, std::vector<double>(static_cast<std::size_t>(P), x));
      }
    }
}

TEST_F(WaitAvoidingRules, WagmaInTimeAveragesGroupsAndSometimesAll) {
  const auto check = [](const Setting& s, const std::vector<std::size_t>& bits) {
    const Paths path = trained_paths(s);
    std::vector<double> x(static_cast<std::size_t>(s.ranks), 1);
    for (std::size_t t = 0; t < bits.size(); ++t) {
      x = group_means(stepped(x), bits[t]);
      expect_near(path[t], x);
    }
  };
  for (const char* inside : {"butterfly", "ring", "rabenseifner"}) {
    Json four = wagma(2, 3), eight = wagma(0, 3);
    four["group_allreduce"] = eight["group_allreduce"] = inside;
    check({.algorithm = four, .ranks = 4, .steps = 5}, {1, 2, 3, 2, 1});
    // Ranks have 3 bits, and those of a group of 4 differ in two of them. Steps 0 to 4 average over
    // the bits {0, 1}, {2, 0}, all (an average of all ranks, as tau = 3), {0, 1}, {2, 0}.
    check({.algorithm = eight, .ranks = 8, .steps = 5}, {3, 5, 7, 3, 5});
  }
  Json in_buckets = wagma(2, 3);
  in_buckets["bucket"] = "0B";
  check({.algorithm = in_buckets, .ranks = 4, .steps = 5}, {1, 2, 3, 2, 1});
  Json fixed = wagma(2, 4);
  fixed["grouping"] = "fixed";
  check({.algorithm = fixed, .ranks = 4, .steps = 4}, {1, 1, 1, 3});
}

/// All weights of a rank are equal, and so are their differences from the last average, so the
/// codec encodes these differences almost exactly.
TEST_F(WaitAvoidingRules, CodedWagmaAveragesDifferencesFromTheLastAverage) {
  Json coded = wagma(2, 3);
  coded["codec"] = "minmax_uint8";
  const Paths path = trained_paths({.algorithm = coded, .ranks = 4, .steps = 5});
  std::vector<double> x(4, 1);
  const std::size_t bits[] = {1, 2, 3, 2, 1};
  for (std::size_t t = 0; t < 5; ++t) {
    x = group_means(stepped(x), bits[t]);
    expect_near(path[t], x);
  }
}

TEST_F(WaitAvoidingRules, WagmaWithGroupsOfAllIsModelAveraging) {
  const Paths groups = trained_paths({.algorithm = wagma(8, 1000), .ranks = 8, .steps = 5});
  const Paths synchronous = trained_paths({.algorithm = wagma(2, 1), .ranks = 8, .steps = 5});
  std::vector<double> x(8, 1);
  for (std::size_t t = 0; t < 5; ++t) {
    x = all_at_mean(stepped(x));
    expect_near(groups[t], x);
    expect_near(synchronous[t], x);
  }
}

TEST_F(WaitAvoidingRules, WagmaGroupsSpreadEveryModelInLogSteps) {
  struct Case {
    int P, S;
    std::size_t steps;  // ceil(lg P / lg S)
  };
  for (const auto& [P, S, steps] : {Case{8, 2, 3}, Case{8, 4, 2}, Case{16, 4, 2}, Case{16, 8, 2}}) {
    const Paths path = trained_paths({.algorithm = wagma(S, 1000),
                                      .ranks = P,
                                      .steps = static_cast<long>(steps),
                                      .lr = 0,
                                      .start_at_rank = true});
    EXPECT_NE(path[steps - 2][0], (P - 1) / 2.0);
    for (const double x : path.back()) EXPECT_EQ(x, (P - 1) / 2.0);
  }
}

/// P = 4, S = 2, and steps count from 0. In step 2 the groups are {0, 1} and {2, 3}, and worker 1
/// is late, so the sum of its group contains its model w' of step 1. Worker 1 then adds its own new
/// model and divides by 3.
TEST_F(WaitAvoidingRules, WagmaMergesALateModel) {
  const auto late = [](int rank, long step) { return rank == 1 && step == 2 ? 5e-3 : 0.0; };
  const std::vector<double> start(4, 1);
  const auto first = group_means(stepped(start), 1);
  const auto models_1 = stepped(first), models_2 = stepped(group_means(models_1, 2));
  const double sum = models_2[0] + models_1[1];
  Json whole = wagma(2, 1000), in_buckets = whole;
  in_buckets["bucket"] = "0B";
  for (const Json& algorithm : {whole, in_buckets}) {
    const Paths path = trained_paths({.algorithm = algorithm, .ranks = 4, .delay = late});
    expect_near(path[2], {sum / 2, (sum + models_2[1]) / 3, (models_2[2] + models_2[3]) / 2,
                          (models_2[2] + models_2[3]) / 2});
  }
}

/// A delay in step 2 makes worker 1 late by half a step from then on, so its gradient of each step
/// is added to the sum of the next step. All ranks apply the same sums, so all models stay equal.
TEST_F(WaitAvoidingRules, EagerSgdAddsALateGradientToTheNextSum) {
  const auto late = [](int rank, long step) { return rank == 1 && step == 2 ? 1e-2 : 0.0; };
  const Paths path =
      trained_paths({.algorithm = {{"name", "eager_sgd"}, {"mode", "solo"}, {"sync_every", 0}},
                     .ranks = 4,
                     .steps = 6,
                     .delay = late});
  double x = 1, late_gradient = 0;
  for (std::size_t t = 0; t < path.size(); ++t) {
    double sum = 0;
    for (const int r : {0, 2, 3}) sum += 0.5 * x + r + 1;
    const double own = 0.5 * x + 2;
    sum += t < 2 ? own : t == 2 ? 0 : late_gradient;
    late_gradient = own;
    x -= kLr * sum / 4;
    expect_near(path[t], std::vector<double>(4, x));
  }
}

TEST_F(WaitAvoidingRules, LateGradientsAndTheirSumsAddUp) {
  run_in_world("sim", flat_cluster(1), [](Context ctx) {
    AffineWorkload workload(ctx, 10, 0);
    const auto& sgd = find_component(optimizers(), "optimizer", Json("sgd"), "");
    auto optimizer = sgd.make(sgd.resolve({{"lr", kLr}}, ""), ctx, workload, 9);
    Steps steps(9);
    trigram::Run run{workload, *optimizer, steps, {}, 7};
    LateGradients late(ctx, run);
    const Tensor g = ctx.device->empty(10), result = ctx.device->empty(10);
    const auto expect_sum = [&](float expected) {
      late.take_mean(ctx, result);
      EXPECT_EQ(result.floats()[9], expected);
    };
    expect_sum(0);
    for (const long step : {0L, 1L, 2L}) {
      ctx.device->fill(g, static_cast<float>(step + 1));
      late.add(ctx, g, step);
    }
    late.sum(ctx, 2, AllreduceAlgorithm::ring);
    expect_sum(6);
    const Steps::Staleness stale = steps.take_staleness();
    EXPECT_EQ(stale.updates, 3);
    EXPECT_EQ(stale.sum, 2 + 1 + 0);
    expect_sum(0);  // it has been taken
    late.sum(ctx, 3, AllreduceAlgorithm::ring);
    expect_sum(0);
    EXPECT_EQ(steps.take_staleness().updates, 0);
    for (const long step : {3L, 4L}) {  // two sums, taken together
      ctx.device->fill(g, static_cast<float>(step));
      late.add(ctx, g, step);
      late.sum(ctx, step + 1, AllreduceAlgorithm::ring);
    }
    expect_sum(7);
    EXPECT_EQ(steps.take_staleness().max, 1);
  });
}

/// After each global average the models are bitwise equal on all ranks, whichever rank is late. A
/// run does not hang if its last steps come after the last global average.
class ConsensusTest : public NamedWorldTest {
 protected:
  void expect_consensus(const Setting& s, std::size_t every) {
    const Paths path = trained_paths(s);
    for (std::size_t t = every - 1; t < path.size(); t += every)
      EXPECT_EQ(path[t], std::vector<double>(path[t].size(), path[t][0])) << "after step " << t;
    const auto& before = path[every - 2];
    EXPECT_NE(before, std::vector<double>(before.size(), before[0]));
  }
};
INSTANTIATE_TEST_SUITE_P(Worlds, ConsensusTest, every_named_world(), named_world_test_name);

TEST_P(ConsensusTest, AfterEachAverageOverAll) {
  const auto rotating = [](int rank, long step) { return (rank + step) % 4 == 0 ? 0.015 : 0.0; };
  expect_consensus(
      {.algorithm = wagma(2, 5), .ranks = 8, .steps = 13, .delay = rotating, .world = GetParam()},
      5);
  expect_consensus({.algorithm = {{"name", "eager_sgd"}, {"mode", "solo"}, {"sync_every", 5}},
                    .ranks = 6,
                    .steps = 14,
                    .start_at_rank = true,
                    .delay = [](int rank, long) { return rank == 1 ? 0.1 : 0.0; },
                    .world = GetParam()},
                   5);
}

}  // namespace
}  // namespace trigram::test::update_rules_test
