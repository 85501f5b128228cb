#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "experiments/results/time_to_target.h"

namespace trigram {

/// The factors at which one property of the network is tried, relative to its described value.
struct Scan {
  double start = 1;             // the factor at which the winner is first
  std::vector<double> factors;  // in order of their distance from `start`
  bool improves = false;        // the network improves with every factor, so that no cost rises
};

/// The costs of the given candidates at a factor, in the same order: infinite for a candidate that
/// never reaches the target, empty if the cost is unknown.
using Costs = std::function<std::vector<std::optional<double>>(
    double factor, const std::vector<std::size_t>& candidates)>;

/// The point at which another candidate takes the lead, between two factors: the winner still leads
/// at `holds`, and `new_first` leads at `flips`. `new_first` is empty if the winner's cost is
/// unknown at `flips`.
struct Flip {
  double holds = 1, flips = 1;
  std::optional<std::size_t> new_first;
};

struct FlipSearchResult {
  std::optional<Flip> flip;  // empty if the winner leads up to the last factor
  /// The candidates whose costs are known at `scan.start`, but unknown at a factor that the search
  /// tried up to its end. At such a factor they count as not ahead of the winner.
  std::vector<std::size_t> unknown;
};

/// A flip is narrowed down until `holds` and `flips` differ by at most this fraction.
constexpr double kFlipTolerance = 0.02;

/// Finds the flip nearest to `scan.start` among candidates 0 to `candidates` - 1. The search tries
/// the factors of the scan in order. At the first factor at which other candidates lead by more
/// than a tie, it finds by bisection the point before that factor at which one of them overtakes
/// the winner. A lead that begins and ends between two factors of the scan is not found. The search
/// ends at a factor for which the winner's cost is unknown.
///
/// No algorithm is faster on a worse network, so a candidate's cost on a better network is a lower
/// bound for its cost here. The search asks only for the costs of candidates that, given this
/// bound, can still be ahead.
FlipSearchResult find_flip(std::size_t winner, std::size_t candidates, const Scan& scan,
                           const Costs& costs);

}  // namespace trigram
