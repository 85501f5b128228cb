// Random schedules of failures: no run hangs, and no worker goes on with a state that is lost or
// begins anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "algorithms/registry.h"
#include "core/optimizers/registry.h"
#include "netmodels/planned_membership.h"
#include "tests/support/affine_training.h"
#include "tests/support/affine_workload.h"

namespace trigram::test::random_schedules_test {
namespace {

constexpr double kStep_s = 3e-3;

/// The same numbers with every standard library.
class Draws {
 public:
  explicit Draws(unsigned seed) : engine_(seed) {}
  int below(int count) { return static_cast<int>(engine_() % static_cast<unsigned>(count)); }
  double up_to(double most) { return most * below(1 << 20) / (1 << 20); }

 private:
  std::mt19937 engine_;
};

Json algorithm_of(Draws& draw, int kind, int ranks) {
  const char* grace[] = {"0s", "100us", "10ms"};
  const int every = 1 + draw.below(5);
  switch (kind) {
    case 0: return {{"name", "moshpit"}, {"sync_every", every}, {"rounds", 1 + draw.below(2)}};
    case 1: return {{"name", "swarm_sgd"}, {"mode", "blocking"}, {"local_steps", every}};
    case 2: return {{"name", "swarm_sgd"}, {"local_steps", every}};
    case 3: return {{"name", "swarm_sgd"}, {"interval", "geometric"}};
    case 4: return {{"name", "adpsgd"}, {"interval_steps", 1 + draw.below(3)}};
    case 5: return {{"name", "async_parameter_server"}, {"servers", 1}};
    default: break;
  }
  Json outer = {{"name", kind == 6   ? "local_sgd"
                         : kind == 7 ? "diloco"
                                     : "decoupled_diloco"},
                {"sync_every", every},
                {"quorum", 1 + draw.below(ranks)},
                {"grace", grace[draw.below(3)]}};
  if (kind == 8) outer["sync_every"] = 2 * every;  // two fragments
  return outer;
}

/// Events of the ranks from `first`: rank 0 always has the model unless it is 0.
Failures failures_of(Draws& draw, int ranks, int first = 1) {
  Failures failures{.events = {},
                    .detection_s = draw.up_to(2 * kStep_s),
                    .restart_s = draw.up_to(4 * kStep_s),
                    .replace = draw.below(2) == 0};
  std::vector<bool> there(static_cast<std::size_t>(ranks), true), seen = there;
  std::fill(seen.begin(), seen.end(), false);
  double at_s = 0;
  for (int count = 1 + draw.below(20); count > 0; --count) {
    at_s += draw.up_to(4 * kStep_s);
    const int rank = first + draw.below(ranks - first);
    const auto i = static_cast<std::size_t>(rank);
    const bool joins = !there[i] || (!seen[i] && draw.below(5) == 0);
    const auto kind = joins                ? Failure::Kind::join
                      : draw.below(3) == 0 ? Failure::Kind::leave
                                           : Failure::Kind::crash;
    failures.events.push_back({.at_s = at_s, .kind = kind, .rank = rank});
    there[i] = joins || (kind == Failure::Kind::crash && failures.replace);
    seen[i] = true;
  }
  return failures;
}

void expect_sound(const AffineTraining& training, bool has_rounds, long every) {
  const std::vector<AffineEnd> ends = train(training);
  ASSERT_EQ(std::ssize(ends), training.cluster.ranks());
  const auto path = paths(ends);
  double before = 1;
  for (long t = 0; t < training.steps; ++t) {
    EXPECT_FALSE(std::isnan(path[static_cast<std::size_t>(t)][0])) << "step " << t;
    if (!has_rounds || (t + 1) % every != 0) continue;
    // Gradients are positive and constant, so that outer weights fall from round to round, unless
    // they begin anew. Late workers have those of this round, or of a later one.
    double most = -1e9;
    for (const double x : path[static_cast<std::size_t>(t)])
      if (!std::isnan(x)) most = std::max(most, x);
    EXPECT_LT(most, before) << "step " << t;
    before = most;
  }
  for (const AffineEnd& end : ends) {
    const bool there = !std::isnan(end.path.back());
    for (const float x : end.weights) EXPECT_TRUE(!there || std::isfinite(x));
    if (there) {
      EXPECT_LT(end.weights[0], 1);
    }
  }
}

class RandomSchedulesTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Algorithms, RandomSchedulesTest, testing::Range(0, 9));

TEST_P(RandomSchedulesTest, neither_hang_nor_lose_the_model) {
  for (unsigned seed = 0; seed < 25; ++seed) {
    Draws draw(100 * seed + static_cast<unsigned>(GetParam()));
    const int ranks = 2 + draw.below(6);
    AffineTraining training{.world = "sim",
                            .cluster = flat_cluster(ranks),
                            .algorithm = algorithm_of(draw, GetParam(), ranks),
                            .steps = 30,
                            .slope = 0,
                            .compute_s = kStep_s / 3,
                            .carries_on = true};
    training.cluster.failures = failures_of(draw, ranks);
    const double slow = draw.below(2) == 0 ? 1 : 1 + draw.up_to(2);
    training.slowdown = [slow, ranks](int rank, long) { return rank == ranks - 1 ? slow : 1; };
    SCOPED_TRACE(testing::Message()
                 << "seed " << seed << ": " << training.algorithm << " with " << ranks << " ranks");
    expect_sound(training, GetParam() >= 6, training.algorithm.value("sync_every", 1));
    if (HasFailure()) return;
  }
}

/// Trains in simulated time, where the state of a worker takes `transfer_s`.
WorldError error_of_training(const Json& algorithm, Cluster cluster, double transfer_s) {
  constexpr std::size_t kNumel = 1000;
  constexpr long kSteps = 30;
  cluster.inter.bandwidth_Bps = kNumel * sizeof(float) / transfer_s;
  const auto& entry = find_component(algorithms(), "algorithm", algorithm, "");
  const Json resolved =
      component_options(resolve_component(algorithms(), "algorithm", algorithm, ""));
  PlannedMembership membership(cluster.failures, cluster.nodes, cluster.workers_per_node);
  return error_in_world("sim", cluster, [&](Context ctx) {
    AffineWorkload workload(ctx, kNumel, 0);
    workload.forward_s = workload.backward_s = (1 + 0.3 * ctx.world_rank) * kStep_s / 3;
    workload.bucketize(0);
    const Json sgd = {{"name", "sgd"}, {"lr", 0.1}};
    auto optimizer =
        find_component(optimizers(), "optimizer", sgd, "")
            .make(resolve_component(optimizers(), "optimizer", sgd, ""), ctx, workload, kSteps);
    Steps steps(kSteps);
    trigram::Run run{workload, *optimizer, steps, entry.traits(resolved).execution};
    run.membership = &membership;
    entry.make(resolved)->train(ctx, run);
  });
}

TEST(RandomSchedules, in_which_all_workers_may_fail_go_on_or_end_with_an_error) {
  constexpr int kSeeds = 200;
  int lost = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    Draws draw(static_cast<unsigned>(seed));
    const int ranks = 2 + draw.below(4);
    Json algorithm = algorithm_of(draw, 6 + draw.below(2), ranks);
    algorithm["quorum"] = 1;  // many are late
    Cluster cluster = flat_cluster(ranks);
    cluster.failures = failures_of(draw, ranks, 0);
    const WorldError error = error_of_training(algorithm, cluster, draw.up_to(3 * kStep_s));
    if (error.kind == WorldError::none) continue;
    ++lost;
    ASSERT_THAT(error.text, testing::HasSubstr("no worker is left that has the model"))
        << "seed " << seed << ": " << algorithm << " with " << ranks << " ranks";
  }
  EXPECT_GT(lost, 0);
  EXPECT_LT(lost, kSeeds);
}

TEST_P(RandomSchedulesTest, are_repeated_exactly) {
  const auto weights = [] {
    Draws draw(7);
    AffineTraining training{.world = "sim",
                            .cluster = flat_cluster(5),
                            .algorithm = algorithm_of(draw, GetParam(), 5),
                            .steps = 30,
                            .tilt = 0.25,
                            .compute_s = kStep_s / 3,
                            .carries_on = true};
    training.cluster.failures = failures_of(draw, 5);
    std::string bits;
    for (const AffineEnd& end : train(training))
      bits.append(reinterpret_cast<const char*>(end.weights.data()),
                  end.weights.size() * sizeof(float));
    return bits;
  };
  EXPECT_EQ(weights(), weights());
}

}  // namespace
}  // namespace trigram::test::random_schedules_test
