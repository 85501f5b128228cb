#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "experiments/results/reached.h"

namespace trigram {

/// One way in which a property of the network is changed: factors of what it is now, outwards.
struct Scan {
  double from = 1;              // where the winner is first
  std::vector<double> factors;  // each further away than the one before
  bool eases = false;           // the network gets better on the way, so that no cost rises
};

/// What some candidates cost at a factor, in the order in which they are asked for; infinite for
/// one that does not get there, none where it is not known.
using Costs = std::function<std::vector<std::optional<double>>(
    double factor, const std::vector<std::size_t>& candidates)>;

/// Where another candidate comes first: the winner is still ahead at `holds`, and `first` at
/// `flips`. No `first`: the winner's cost is not known at `flips`.
struct Flip {
  double holds = 1, flips = 1;
  std::optional<std::size_t> first;
};

struct Found {
  std::optional<Flip> flip;  // none as far as the last factor
  /// Candidates whose costs are known at `scan.from`, but not at some factor that was tried up to
  /// where the search ended. There, they count as not ahead.
  std::vector<std::size_t> unknown;
};

/// A flip is narrowed down until both its ends differ by at most this share.
constexpr double kFlipTolerance = 0.02;

/// The flip nearest to `scan.from`, of `candidates` in all. The factors of the scan are tried one
/// by one. At the first at which others lead by more than a tie, bisection seeks the point before
/// it where one of them draws ahead. A lead that comes and goes between two factors of the scan is
/// not seen. The search ends where the winner's cost is not known.
///
/// Nothing is faster on a worse network. So what a candidate costs on a better one bounds what it
/// can cost here, and only candidates that this leaves a chance are asked for.
Found find_flip(std::size_t winner, std::size_t candidates, const Scan& scan, const Costs& costs);

}  // namespace trigram
