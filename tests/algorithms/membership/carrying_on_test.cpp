// Algorithms that carry on without workers, against plain averages of the workers that are there.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <set>

#include "tests/support/affine_training.h"

namespace trigram::test::carrying_on_test {
namespace {

constexpr double kLr = 0.125, kPart_s = 0.02, kStep_s = 3 * kPart_s;
constexpr int P = 4;

using Path = std::vector<std::vector<double>>;  // [step][rank]; NaN if the worker was absent

bool there(const Path& path, long step, int rank) {
  return !std::isnan(path[static_cast<std::size_t>(step)][static_cast<std::size_t>(rank)]);
}

std::set<int> there_at(const Path& path, long step) {
  std::set<int> ranks;
  for (int rank = 0; rank < std::ssize(path[0]); ++rank)
    if (there(path, step, rank)) ranks.insert(rank);
  return ranks;
}

/// The models of rounds in which the workers of `path` that are there average. A worker that comes
/// back begins with the model of the next rank that is there. `late` are workers whose steps of a
/// round do not count; they get the new model when the round ends, or later.
class PlainRounds {
 public:
  explicit PlainRounds(long sync_every, double outer_lr = 1, double outer_momentum = 0)
      : every_(sync_every), outer_lr_(outer_lr), momentum_(outer_momentum) {}

  void expect(const Path& path, const std::set<std::pair<long, int>>& late = {}) {
    std::vector<double> x(path[0].size(), 1);
    double start = 1, v = 0;
    for (long t = 0; t < std::ssize(path); ++t) {
      const std::vector<double> before = x;
      for (const int rank : there_at(path, t)) {
        double& own = x[static_cast<std::size_t>(rank)];
        if (t > 0 && !there(path, t - 1, rank)) own = before[donor(path, t, rank)];
        own -= kLr * (rank + 1);
      }
      if ((t + 1) % every_ == 0) {
        double sum = 0, count = 0;
        for (const int rank : there_at(path, t))
          if (!late.contains({t, rank})) sum += x[static_cast<std::size_t>(rank)], ++count;
        const double d = start - sum / count;
        v = momentum_ * v + d;
        start -= outer_lr_ * (d + momentum_ * v);
        std::ranges::fill(x, start);
      }
      for (const int rank : there_at(path, t))
        if (!late.contains({t, rank})) {
          EXPECT_NEAR(path[static_cast<std::size_t>(t)][static_cast<std::size_t>(rank)],
                      x[static_cast<std::size_t>(rank)], 1e-4)
              << "step " << t << " rank " << rank;
        }
    }
  }

 private:
  static std::size_t donor(const Path& path, long step, int rank) {
    const int ranks = static_cast<int>(path[0].size());
    for (int k = 1; k < ranks; ++k)
      if (const int next = (rank + k) % ranks;
          there(path, step, next) && there(path, step - 1, next))
        return static_cast<std::size_t>(next);
    return 0;
  }
  long every_;
  double outer_lr_, momentum_;
};

class CarryingOnTest : public NamedWorldTest {
 protected:
  static AffineTraining training(const Json& algorithm, long steps, const Failures& failures,
                                 int ranks = P) {
    AffineTraining training{.world = GetParam(),
                            .cluster = flat_cluster(ranks),
                            .algorithm = algorithm,
                            .steps = steps,
                            .slope = 0,
                            .lr = kLr,
                            .compute_s = kPart_s,
                            .carries_on = true};
    training.cluster.failures = failures;
    return training;
  }
  /// Whether a rank is there in a simulated run; real time is less exact.
  static void expect_absent(const Path& path, int rank, long from, long to) {
    if (!is_simulated(GetParam())) return;
    for (long t = 0; t < std::ssize(path); ++t)
      EXPECT_EQ(there(path, t, rank), t < from || t >= to) << "step " << t << " rank " << rank;
  }
};
INSTANTIATE_TEST_SUITE_P(Worlds, CarryingOnTest, every_named_world(), named_world_test_name);

Failure event(double at_s, Failure::Kind kind, int rank) {
  return {.at_s = at_s, .kind = kind, .rank = rank};
}

TEST_P(CarryingOnTest, local_sgd_averages_the_workers_that_are_left) {
  const Failures failures{.events = {event(2.5 * kStep_s, Failure::Kind::crash, 2)},
                          .detection_s = kStep_s / 2,
                          .replace = false};
  const Json local = {{"name", "local_sgd"}, {"sync_every", 2}, {"quorum", P}};
  const Path path = paths(train(training(local, 8, failures)));
  expect_absent(path, 2, 3, 8);
  ASSERT_FALSE(there(path, 7, 2));
  PlainRounds(2).expect(path);
}

TEST_P(CarryingOnTest, newcomers_begin_as_copies_of_the_next_worker) {
  const Failures failures{.events = {event(0.5 * kStep_s, Failure::Kind::crash, 1),
                                     event(2.5 * kStep_s, Failure::Kind::leave, 3),
                                     event(7.5 * kStep_s, Failure::Kind::join, 3)},
                          .detection_s = kStep_s / 4,
                          .restart_s = 1.5 * kStep_s};
  const Json diloco = {{"name", "diloco"},
                       {"sync_every", 3},
                       {"quorum", P},
                       {"outer_lr", 0.5},
                       {"outer_momentum", 0.75}};
  const Path path = paths(train(training(diloco, 15, failures)));
  ASSERT_TRUE(there(path, 14, 1));
  ASSERT_TRUE(there(path, 14, 3));
  EXPECT_FALSE(there(path, 1, 1));
  PlainRounds(3, 0.5, 0.75).expect(path);
}

TEST_P(CarryingOnTest, late_workers_take_the_outer_weights_and_go_on) {
  if (!is_simulated(GetParam())) GTEST_SKIP() << "who is late depends on the time";
  const Json diloco = {{"name", "diloco"}, {"sync_every", 3},       {"quorum", 3},
                       {"grace", "20ms"},  {"outer_momentum", 0.5}, {"outer_lr", 0.5}};
  AffineTraining slow = training(diloco, 12, {});
  slow.carries_on = false;  // no worker fails
  slow.slowdown = [](int rank, long step) { return rank == 3 && step >= 3 && step < 6 ? 2. : 1.; };
  const Path path = paths(train(slow));
  // The steps 3 to 5 of rank 3 take six steps of the others: they end when the others end step 8.
  ASSERT_TRUE(there(path, 5, 3));
  ASSERT_FALSE(there(path, 6, 3));
  ASSERT_TRUE(there(path, 11, 3));
  // Where it goes on, it has the weights with which the others began the block.
  PlainRounds(3, 0.5, 0.5).expect(path, {{5, 3}});
}

TEST_P(CarryingOnTest, training_does_not_outlive_its_last_round_for_the_grace) {
  AffineTraining fast =
      training({{"name", "local_sgd"}, {"sync_every", 1}, {"quorum", 3}, {"grace", "30s"}}, 8, {});
  fast.compute_s = 1e-4;
  const auto begin = std::chrono::steady_clock::now();
  PlainRounds(1).expect(paths(train(fast)));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
}

TEST_P(CarryingOnTest, averages_of_members_keep_their_sum) {
  // The learning rate is small enough that steps change nothing that counts.
  const Failures failures{.events = {event(9, Failure::Kind::join, 2)}};  // after the end
  for (const Json& algorithm :
       {Json{{"name", "moshpit"}, {"rounds", 2}}, Json{{"name", "swarm_sgd"}, {"local_steps", 1}},
        Json{{"name", "swarm_sgd"}, {"mode", "blocking"}, {"local_steps", 2}},
        Json{{"name", "adpsgd"}}}) {
    SCOPED_TRACE(algorithm.dump());
    constexpr int kRanks = 6;
    AffineTraining run = training(algorithm, 12, failures, kRanks);
    run.lr = 1e-9;
    run.start_at_rank = true;
    run.compute_s = 1e-3;
    const std::vector<AffineEnd> ends = train(run);
    double sum = 0, least = kRanks, most = 0;
    for (int rank = 0; rank < kRanks; ++rank) {
      const float x = ends.at(static_cast<std::size_t>(rank)).weights.at(0);
      EXPECT_EQ(std::isnan(x), rank == 2);
      if (rank == 2) continue;
      sum += double{x};
      least = std::min(least, double{x});
      most = std::max(most, double{x});
    }
    EXPECT_NEAR(sum, 0 + 1 + 3 + 4 + 5, 1e-4);
    EXPECT_LT(most - least, 3);  // they have averaged: it was 5
  }
}

TEST_P(CarryingOnTest, a_parameter_server_has_the_changes_of_all_steps_that_were_made) {
  const Failures failures{.events = {event(1.5 * kStep_s, Failure::Kind::crash, 1),
                                     event(2.5 * kStep_s, Failure::Kind::leave, 2)},
                          .restart_s = 2 * kStep_s};
  const Json server = {{"name", "async_parameter_server"}, {"servers", 1}};
  const std::vector<AffineEnd> ends = train(training(server, 8, failures, 3));
  const Path path = paths(ends);
  double expected = 1, least = 1;
  for (int rank = 0; rank < 3; ++rank) {
    for (long t = 0; t < std::ssize(path); ++t)
      if (there(path, t, rank)) expected -= kLr * (rank + 1);
    const float own = ends[static_cast<std::size_t>(rank)].weights[0];
    if (!std::isnan(own)) least = std::min(least, double{own});
  }
  EXPECT_TRUE(there(path, 7, 1));
  EXPECT_FALSE(there(path, 7, 2));
  // The worker that pulled last has them all.
  EXPECT_NEAR(least, expected, 1e-4);
}

}  // namespace
}  // namespace trigram::test::carrying_on_test
