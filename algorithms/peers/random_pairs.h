#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

#include "algorithms/peers/peer_graph.h"

namespace trigram {

/// How the number of steps between rounds is chosen: it is constant, or drawn for each round from a
/// geometric distribution with the same mean.
enum class Interval { fixed, geometric };

/// Rounds in which all ranks form random pairs, numbered from 0. Every rank computes each round's
/// pairs, and the step after which the round is due, without communication.
class RandomPairs {
 public:
  /// The rounds of a run of `steps` steps; `mean_interval` in steps, at least 1.
  RandomPairs(std::uint64_t seed, Interval interval, std::int64_t mean_interval, long steps);

  long count() const { return std::ssize(due_); }
  /// True if `round` exists and is due after step `step`; steps are numbered from 0.
  bool due_after(long step, long round) const {
    return round < count() && due_[static_cast<std::size_t>(round)] == step;
  }
  /// The number of rounds that are due after steps before `step`.
  long due_before(long step) const { return std::ranges::lower_bound(due_, step) - due_.begin(); }
  /// A perfect matching, with weights 1/2. If the number of ranks is odd, one rank is left out.
  Peers peers(int rank, int size, long round) const { return pairs_->peers(rank, size, round); }
  /// The same as a list: `rank` and its partner, if it has one.
  std::vector<int> pair_of(int rank, int size, long round) const {
    std::vector<int> pair = peers(rank, size, round).send_to;
    pair.push_back(rank);
    return pair;
  }

 private:
  std::shared_ptr<const PeerGraph> pairs_;
  std::vector<long> due_;  // the step after which each round is due, indexed by round
};

}  // namespace trigram
