#include "experiments/advise/flip_search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace trigram {
namespace {

/// Rounds to three significant digits, which are easy to read and to copy into a file.
double rounded(double factor) {
  const double unit = std::pow(10, std::floor(std::log10(factor)) - 2);
  // Powers of ten below one are not exact, but their reciprocals are.
  return unit < 1 ? std::round(factor / unit) / std::round(1 / unit)
                  : std::round(factor / unit) * unit;
}

class FlipSearch {
 public:
  FlipSearch(std::size_t winner, std::size_t candidates, const Scan& scan, const Costs& costs)
      : winner_(winner), candidates_(candidates), scan_(scan), costs_(costs) {}

  FlipSearchResult find() {
    const std::optional<Flip> flip = find_flip();
    return {flip, unknown_up_to(flip ? flip->flips : passed_.back())};
  }

 private:
  std::optional<Flip> find_flip() {
    std::vector<std::size_t> all(candidates_);
    std::iota(all.begin(), all.end(), std::size_t{0});
    measure(scan_.start, all);
    if (scan_.improves && !scan_.factors.empty()) measure(scan_.factors.back(), all);
    passed_ = {scan_.start};
    for (const double factor : scan_.factors) {
      if (!cost(winner_, factor)) return where_winner_unknown(factor);
      if (const auto leaders = leaders_at(factor); !leaders.empty())
        return nearest(leaders, factor);
      passed_.push_back(factor);
    }
    return std::nullopt;
  }

  /// Asks for the costs that are not known yet.
  void measure(double factor, const std::vector<std::size_t>& candidates) {
    auto& known = known_[factor];
    std::vector<std::size_t> missing;
    for (const std::size_t c : candidates)
      if (!known.contains(c)) missing.push_back(c);
    if (missing.empty()) return;
    const auto found = costs_(factor, missing);
    for (std::size_t i = 0; i < missing.size(); ++i) known[missing[i]] = found.at(i);
  }

  std::optional<double> cost(std::size_t candidate, double factor) {
    measure(factor, {candidate});
    return known_[factor][candidate];
  }

  double distance(double factor) const { return std::fabs(factor - scan_.start); }

  /// A lower bound of the candidate's cost: its largest known cost on networks that are as good or
  /// better.
  double lower_bound(std::size_t candidate, double factor) const {
    double largest = 0;
    for (const auto& [known_factor, costs] : known_) {
      const bool nearer = distance(known_factor) <= distance(factor);
      const bool farther = distance(known_factor) >= distance(factor);
      if (!(scan_.improves ? farther : nearer)) continue;
      if (const auto cost = costs.find(candidate); cost != costs.end())
        largest = std::max(largest, cost->second.value_or(0));
    }
    return largest;
  }

  /// The candidates that are ahead of the winner by more than a tie, best first. The winner's cost
  /// must be known.
  std::vector<std::size_t> leaders_at(double factor) {
    const double to_beat = *cost(winner_, factor) / (1 + kTie);
    std::vector<std::size_t> leaders;
    for (std::size_t c = 0; c < candidates_; ++c)
      if (c != winner_ && lower_bound(c, factor) < to_beat) leaders.push_back(c);
    measure(factor, leaders);
    auto& costs = known_[factor];
    std::erase_if(leaders, [&](std::size_t c) { return !costs[c] || *costs[c] >= to_beat; });
    std::ranges::stable_sort(leaders, {}, [&](std::size_t c) { return *costs[c]; });
    return leaders;
  }

  bool is_ahead(std::size_t challenger, double factor) {
    measure(factor, {winner_, challenger});
    const auto challengers = cost(challenger, factor), winners = cost(winner_, factor);
    return challengers && winners && *challengers < *winners;
  }

  /// Among the candidates that lead at `factor`, finds the candidate that overtakes the winner
  /// first.
  Flip nearest(const std::vector<std::size_t>& leaders, double factor) {
    Flip best = crossing(leaders.front(), factor);
    for (std::size_t i = 1; i < leaders.size(); ++i)
      if (is_ahead(leaders[i], best.flips))
        if (const Flip flip = crossing(leaders[i], best.flips);
            distance(flip.flips) < distance(best.flips))
          best = flip;
    return best;
  }

  /// The point at which the challenger, which is ahead at `flips`, overtakes the winner.
  Flip crossing(std::size_t challenger, double flips) {
    std::size_t last = passed_.size() - 1;
    while (last > 0 && distance(passed_[last]) >= distance(flips)) --last;
    while (last > 0 && is_ahead(challenger, passed_[last])) flips = passed_[last--];
    Flip flip{passed_[last], flips, challenger};
    narrow(flip, [&](double factor) { return is_ahead(challenger, factor); });
    return flip;
  }

  /// Finds the point from which the winner's cost is unknown, as it is at `unknown`, or a flip
  /// before that point.
  Flip where_winner_unknown(double unknown) {
    Flip end{passed_.back(), unknown, std::nullopt};
    narrow(end, [&](double factor) { return !cost(winner_, factor); });
    const auto leaders = leaders_at(end.holds);
    return leaders.empty() ? end : nearest(leaders, end.holds);
  }

  /// Moves the two factors of the flip closer to each other.
  template <class HasFlipped>
  static void narrow(Flip& flip, const HasFlipped& has_flipped) {
    for (;;) {
      const double middle = between(flip.holds, flip.flips);
      if (middle == flip.holds || middle == flip.flips) return;
      (has_flipped(middle) ? flip.flips : flip.holds) = middle;
    }
  }

  /// The value of FlipSearchResult::unknown for a search that ended at the factor `end`.
  std::vector<std::size_t> unknown_up_to(double end) {
    std::vector<std::size_t> found;
    const auto is_unknown = [&](std::size_t c) {
      return std::ranges::any_of(known_, [&](const auto& entry) {
        const auto& [factor, costs] = entry;
        const auto cost = costs.find(c);
        return distance(factor) <= distance(end) && cost != costs.end() && !cost->second;
      });
    };
    for (std::size_t c = 0; c < candidates_; ++c)
      if (c != winner_ && cost(c, scan_.start) && is_unknown(c)) found.push_back(c);
    return found;
  }

  /// The next factor to try between `holds` and `flips`. Returns `flips` if the two are close
  /// enough.
  static double between(double holds, double flips) {
    constexpr double kStep = 4, kLeast = 1e-3;
    if (holds == 0) return flips / kStep < kLeast ? flips : flips / kStep;
    const double low = std::min(holds, flips), high = std::max(holds, flips);
    if (high <= low * (1 + kFlipTolerance)) return flips;
    const double middle = rounded(std::sqrt(low * high));
    return middle <= low || middle >= high ? flips : middle;
  }

  const std::size_t winner_, candidates_;
  const Scan& scan_;
  const Costs& costs_;
  /// The costs that were asked for, by factor and then by candidate.
  std::map<double, std::map<std::size_t, std::optional<double>>> known_;
  std::vector<double> passed_;  // factors at which no candidate leads by more than a tie
};

}  // namespace

FlipSearchResult find_flip(std::size_t winner, std::size_t candidates, const Scan& scan,
                           const Costs& costs) {
  return FlipSearch(winner, candidates, scan, costs).find();
}

}  // namespace trigram
