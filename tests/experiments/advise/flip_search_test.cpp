// The costs of these tests come from formulas whose crossings are known.
#include "experiments/advise/flip_search.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/random/philox.h"

namespace trigram::flip_search_test {
namespace {

using testing::ElementsAre;

const Scan kLess{1, {0.25, 1.0 / 16, 1.0 / 64}, false};
const Scan kMore{1, {4, 16, 64}, true};

/// The cost of a step with `fixed` seconds of computation and `sent` seconds of communication,
/// which are inversely proportional to the factor.
struct Line {
  double fixed, sent;
  double at(double factor) const { return fixed + sent / factor; }
};
double crossing(const Line& a, const Line& b) { return (b.sent - a.sent) / (a.fixed - b.fixed); }

struct Search {
  std::vector<Line> lines;
  std::size_t winner = 0;
  /// Returns whether a candidate's cost is known at a factor.
  std::function<bool(std::size_t, double)> is_known = [](std::size_t, double) { return true; };
  std::vector<std::pair<double, std::size_t>> asked = {};

  FlipSearchResult search(const Scan& scan) {
    return find_flip(winner, lines.size(), scan,
                     [this](double factor, const std::vector<std::size_t>& candidates) {
                       std::vector<std::optional<double>> costs;
                       for (const std::size_t c : candidates) {
                         asked.emplace_back(factor, c);
                         costs.emplace_back(lines[c].at(factor));
                         if (!is_known(c, factor)) costs.back().reset();
                       }
                       return costs;
                     });
  }
  std::optional<Flip> find(const Scan& scan) { return search(scan).flip; }
  std::vector<std::size_t> asked_beyond_the_start() const {
    std::vector<std::size_t> candidates;
    for (const auto& [factor, candidate] : asked)
      if (factor != 1) candidates.push_back(candidate);
    return candidates;
  }
};

/// The crossing lies between the two ends, which are close to each other.
void expect_flip(const std::optional<Flip>& flip, double at, std::optional<std::size_t> new_first) {
  ASSERT_TRUE(flip);
  EXPECT_EQ(flip->new_first, new_first);
  const double low = std::min(flip->holds, flip->flips), high = std::max(flip->holds, flip->flips);
  EXPECT_LE(low, at);
  EXPECT_GE(high, at);
  EXPECT_LE(high / low, 1.0201);
}

TEST(FlipSearch, FindsTheCrossingOfTwoLines) {
  for (const double fixed : {1.05, 1.3, 1.9, 2.5}) {
    Search less{{{1, 2}, {fixed, 2.0 - 0.9 * (fixed - 1)}}};
    expect_flip(less.find(kLess), crossing(less.lines[0], less.lines[1]), 1);
    Search more{{{fixed, 1}, {1, 1 + 3 * (fixed - 1)}}};
    expect_flip(more.find(kMore), crossing(more.lines[0], more.lines[1]), 1);
  }
}

TEST(FlipSearch, FindsNoFlipIfCostsDoNotCross) {
  EXPECT_FALSE((Search{{{1, 1}, {1.1, 1.2}, {2, 1}}}.find(kLess)));
  EXPECT_FALSE((Search{{{1, 1}, {1.1, 1.2}, {2, 1}}}.find(kMore)));
  // The costs cross, but beyond the range of the search.
  EXPECT_FALSE((Search{{{1, 1}, {1.99, 0.99}}}.find({1, {0.25, 0.125}, false})));
}

TEST(FlipSearch, FindsTheNearestOfSeveralFlips) {
  // At 1/4 the third candidate is the fastest by far, but the second overtakes the winner before.
  Search search{{{1, 1}, {1.5, 0.7}, {2, 0.45}}};
  ASSERT_GT(crossing(search.lines[0], search.lines[1]), 0.59);
  ASSERT_LT(crossing(search.lines[0], search.lines[2]), 0.56);
  ASSERT_LT(search.lines[2].at(0.25), search.lines[1].at(0.25));
  expect_flip(search.find(kLess), crossing(search.lines[0], search.lines[1]), 1);
}

TEST(FlipSearch, IgnoresLeadsWithinATie) {
  // The candidate is ahead everywhere below 0.4, but never by as much as 1 %.
  EXPECT_FALSE((Search{{{1, 1}, {1.02, 0.992}}}.find({1, {0.25, 1.0 / 16}, false})));
  // The costs tie down to 1/16, and below that the candidate leads by more than a tie. The result
  // is the point at which the costs cross.
  Search search{{{1, 1}, {1.05, 0.985}}};
  ASSERT_LT(search.lines[1].at(0.25), search.lines[0].at(0.25));
  ASSERT_GT(search.lines[1].at(0.25) * (1 + kTie), search.lines[0].at(0.25));
  ASSERT_LT(search.lines[1].at(1.0 / 64) * (1 + kTie), search.lines[0].at(1.0 / 64));
  expect_flip(search.find(kLess), crossing(search.lines[0], search.lines[1]), 1);
}

TEST(FlipSearch, AsksOnlyForCandidatesThatCanBeAhead) {
  // This candidate needs no network, so worse networks never make another candidate the fastest.
  Search flat{{{1, 0}, {0.9, 0.2}, {1.1, 0.1}}};
  EXPECT_FALSE(flat.find(kLess));
  EXPECT_THAT(flat.asked_beyond_the_start(), ElementsAre(0, 0, 0));
  // For better networks, all candidates are evaluated at their best factor, and then only the
  // second one again.
  expect_flip(flat.find(kMore), 2, 1);
  std::vector<std::size_t> third;
  for (const auto& [factor, candidate] : flat.asked)
    if (candidate == 2 && factor > 1) third.push_back(static_cast<std::size_t>(factor));
  EXPECT_THAT(third, ElementsAre(64));
}

TEST(FlipSearch, AsksForEachCostOnce) {
  Search search{{{1, 1}, {1.5, 0.7}, {2, 0.45}}};
  ASSERT_TRUE(search.find(kLess));
  auto sorted = search.asked;
  std::ranges::sort(sorted);
  EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end());
  // Seven bisections narrow the factor 4 between two factors of the scan down to 2 %. For each of
  // two challengers, they ask only for the costs of the challenger and of the winner.
  EXPECT_LE(search.asked.size(), 3 + 3 + 2 * 7 * 2);
}

TEST(FlipSearch, ACandidateThatNeverReachesTheTargetIsNeverFirst) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  EXPECT_FALSE((Search{{{1, 1}, {kNever, 0}}}.find(kLess)));
  EXPECT_FALSE((Search{{{1, 1}, {kNever, 0}}}.find(kMore)));
}

TEST(FlipSearch, CanStartAtFactorZero) {
  // A latency that costs the first candidate 10 per unit, and the second 1.
  const Costs costs = [](double factor, const std::vector<std::size_t>& candidates) {
    std::vector<std::optional<double>> all;
    for (const std::size_t c : candidates) all.emplace_back(c == 0 ? 1 + 10 * factor : 2 + factor);
    return all;
  };
  const auto flip = find_flip(0, 2, {0, {1, 4, 16}, false}, costs).flip;
  expect_flip(flip, 1.0 / 9, 1);
  EXPECT_FALSE(find_flip(1, 2, {0, {1, 4, 16}, false}, [&](double f, const auto& candidates) {
                 return costs(f + 1, candidates);
               }).flip);
}

TEST(FlipSearch, EndsIfTheCostOfTheWinnerIsUnknown) {
  Search search{{{1, 0}, {2, 1}}};
  search.is_known = [](std::size_t c, double factor) { return c != 0 || factor > 0.1; };
  expect_flip(search.find(kLess), 0.1, std::nullopt);
  EXPECT_EQ(
      std::ranges::count(search.asked, std::size_t{1}, &std::pair<double, std::size_t>::second), 1);
  search.is_known = [](std::size_t c, double factor) { return c != 0 || factor < 10; };
  expect_flip(search.find(kMore), 10, std::nullopt);
}

TEST(FlipSearch, FindsAFlipBeforeTheCostOfTheWinnerIsUnknown) {
  Search search{{{1, 1}, {1.5, 0.7}}};
  const double flips = crossing(search.lines[0], search.lines[1]);
  ASSERT_GT(flips, 0.55);
  search.is_known = [](std::size_t c, double factor) { return c != 0 || factor > 0.3; };
  expect_flip(search.find(kLess), flips, 1);
}

TEST(FlipSearch, CandidatesWithUnknownCostsAreNotAheadAndAreReported) {
  Search search{{{1, 1}, {1.5, 0.7}, {3, 1}}};
  search.is_known = [](std::size_t c, double factor) { return c != 1 || factor > 0.9; };
  const FlipSearchResult found = search.search(kLess);
  EXPECT_FALSE(found.flip);
  EXPECT_THAT(found.unknown, ElementsAre(1));
  // Beyond the flip to another candidate, an unknown cost does not matter.
  Search beyond{{{1, 1}, {1.5, 0.7}, {2, 0.3}}};
  beyond.is_known = [](std::size_t c, double factor) { return c != 1 || factor > 0.3; };
  const FlipSearchResult flip = beyond.search(kLess);
  expect_flip(flip.flip, crossing(beyond.lines[0], beyond.lines[2]), 2);
  EXPECT_THAT(flip.unknown, ElementsAre());
  // A candidate whose cost is unknown at the start is not reported. But it may win where its cost
  // is known.
  Search later{{{1.5, 1}, {1, 1}}};
  later.is_known = [](std::size_t c, double factor) { return c != 1 || factor > 3; };
  const FlipSearchResult known = later.search(kMore);
  expect_flip(known.flip, 3, 1);
  EXPECT_THAT(known.unknown, ElementsAre());
}

/// True if a candidate is ahead of the winner by more than ties and rounding.
bool led(const std::vector<Line>& lines, std::size_t winner, double factor) {
  for (const Line& line : lines)
    if (line.at(factor) * (1 + kTie) < lines[winner].at(factor) * (1 - 1e-12)) return true;
  return false;
}

TEST(FlipSearch, AgreesWithAFineSweep) {
  int flips = 0, none = 0;
  for (std::uint64_t trial = 0; trial < 400; ++trial) {
    Philox random(7, trial, 0, Purpose::network_jitter);
    Search search;
    for (int i = 0; i < 6; ++i)
      search.lines.push_back({0.5 + random.uniform(), 2 * random.uniform()});
    const auto& lines = search.lines;
    for (std::size_t i = 1; i < lines.size(); ++i)
      if (lines[i].at(1) < lines[search.winner].at(1)) search.winner = i;
    const Scan& scan = trial % 2 == 0 ? kLess : kMore;
    const auto flip = search.find(scan);
    const double end = flip ? flip->holds : scan.factors.back();
    const double step = std::pow(end, 1.0 / 500);
    for (int i = 0; i <= 500; ++i)
      EXPECT_FALSE(led(lines, search.winner, std::pow(step, i))) << trial << ' ' << i;
    if (!flip) {
      ++none;
      continue;
    }
    ++flips;
    EXPECT_LT(lines[*flip->new_first].at(flip->flips), lines[search.winner].at(flip->flips));
    EXPECT_GE(lines[*flip->new_first].at(flip->holds), lines[search.winner].at(flip->holds));
  }
  EXPECT_GT(flips, 50);
  EXPECT_GT(none, 50);
}

}  // namespace
}  // namespace trigram::flip_search_test
