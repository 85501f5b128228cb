#include "experiments/tune/tuner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

namespace trigram::tuner_test {
namespace {

SearchSpace space_of(const char* text) { return search_space().parse(Json::parse(text), ""); }

/// Branin's function, whose three minima are 0.397887 (Dixon and Szegoe, 1978).
double branin(double x, double y) {
  constexpr double kPi = std::numbers::pi;
  const double a = y - 5.1 / (4 * kPi * kPi) * x * x + 5 / kPi * x - 6;
  return a * a + 10 * (1 - 1 / (8 * kPi)) * std::cos(x) + 10;
}

SearchSpace branin_space() {
  return space_of(R"({"/x": {"real": [-5, 10]}, "/y": {"real": [0, 15]}})");
}

double branin_at(const SearchSpace& space, const Position& position) {
  const Json point = space.point_at(position);
  return branin(point["/x"].get<double>(), point["/y"].get<double>());
}

/// The number of evaluations until Branin's function is below 0.5; `most` + 1 if it never is.
int evaluations_of_branin(TuneMethod method, std::uint64_t seed, int most, std::size_t batch = 1) {
  Tuner tuner(branin_space(), {method, 60, seed, 0});
  for (int made = 0; made < most;) {
    for (const Position& position : tuner.ask(batch)) {
      const double value = branin_at(tuner.space(), position);
      ++made;
      if (value < 0.5) return made;
      tuner.tell(position, value);
    }
  }
  return most + 1;
}

double median_of_20_seeds(TuneMethod method, int most, std::size_t batch = 1) {
  std::vector<int> counts;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    counts.push_back(evaluations_of_branin(method, seed, most, batch));
  std::ranges::sort(counts);
  return (counts[9] + counts[10]) / 2.0;
}

TEST(Tuner, BraninNeedsFewerEvaluationsThanRandomSearch) {
  const double random = median_of_20_seeds(TuneMethod::random, 600);
  EXPECT_LT(median_of_20_seeds(TuneMethod::bayesian, 60), 40);
  EXPECT_GT(random, 80);
  EXPECT_LT(median_of_20_seeds(TuneMethod::bagua, 60), random);
}

TEST(Tuner, BatchesNeedFewerEvaluationsThanRandomSearchToo) {
  EXPECT_LT(median_of_20_seeds(TuneMethod::bayesian, 80, 4), 60);
}

/// Every point of a batch and of its successors differs, until the space has no more.
TEST(Tuner, AFiniteSpaceIsTriedOnce) {
  for (const TuneMethod method : {TuneMethod::bayesian, TuneMethod::random, TuneMethod::grid}) {
    Tuner tuner(space_of(R"({"/a": {"integer": [1, 5]}, "/b": {"values": [true, false]}})"),
                {method, 60, 3, 0});
    std::set<Position> tried;
    for (int i = 0; i < 4; ++i)
      for (const Position& position : tuner.ask(3)) {
        EXPECT_TRUE(tried.insert(position).second);
        tuner.tell(position, position[0]);
      }
    EXPECT_EQ(tried.size(), 10u);
    EXPECT_TRUE(tuner.ask(1).empty());
  }
}

TEST(Tuner, ProposalsDependOnlyOnSeedAndHistory) {
  const auto history = [](std::uint64_t seed) {
    Tuner tuner(branin_space(), {TuneMethod::bayesian, 60, seed, 0});
    std::vector<Position> all;
    for (int i = 0; i < 5; ++i)
      for (const Position& position : tuner.ask(3)) {
        tuner.tell(position, branin_at(tuner.space(), position));
        all.push_back(position);
      }
    return all;
  };
  EXPECT_EQ(history(7), history(7));
  EXPECT_NE(history(7), history(8));
}

TEST(Tuner, SeedZeroStartsWithHaltonsSequence) {
  Tuner tuner(branin_space(), {TuneMethod::bagua, 60, 0, 0});
  const std::vector<Position> start = tuner.ask(20);
  ASSERT_EQ(start.size(), 20u);
  EXPECT_EQ(start[0], (Position{1. / 2, 1. / 3}));
  EXPECT_DOUBLE_EQ(start[3][0], 1. / 8);
  EXPECT_DOUBLE_EQ(start[3][1], 4. / 9);
}

/// Failed evaluations count as the worst value, so that the search turns away from them.
TEST(Tuner, TheSearchAvoidsWhereEvaluationsFail) {
  Tuner tuner(branin_space(), {TuneMethod::bayesian, 60, 1, 0});
  int failed = 0, late_failures = 0;
  for (int i = 0; i < 40; ++i) {
    const Position position = tuner.ask(1).at(0);
    const bool fails = position[0] > 0.6;
    failed += fails;
    if (i >= 20) late_failures += fails;
    tuner.tell(position, fails ? std::nullopt : std::optional(branin_at(tuner.space(), position)));
  }
  EXPECT_GT(failed, 0);
  EXPECT_LE(late_failures, 6);
  ASSERT_TRUE(tuner.best());
  EXPECT_LT(*tuner.evaluations()[*tuner.best()].value, 1.5);
}

TEST(Tuner, AllEvaluationsMayFail) {
  Tuner tuner(branin_space(), {TuneMethod::bayesian, 60, 1, 0});
  for (int i = 0; i < 12; ++i) tuner.tell(tuner.ask(1).at(0), std::nullopt);
  EXPECT_FALSE(tuner.best());
  EXPECT_FALSE(tuner.interval({0.5, 0.5}));
}

TEST(Tuner, TheIntervalOfAPointHoldsItsValue) {
  Tuner tuner(branin_space(), {TuneMethod::bayesian, 60, 2, 0});
  for (int i = 0; i < 40; ++i) {
    const Position position = tuner.ask(1).at(0);
    tuner.tell(position, branin_at(tuner.space(), position));
  }
  const EvaluatedPoint& best = tuner.evaluations()[*tuner.best()];
  const auto interval = tuner.interval(best.position);
  ASSERT_TRUE(interval);
  EXPECT_LE(interval->first, *best.value);
  EXPECT_GE(interval->second, *best.value);
  EXPECT_LT(interval->second - interval->first, 1);
}

}  // namespace
}  // namespace trigram::tuner_test
