#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

#include "algorithms/peers/peer_graph.h"

namespace trigram {

/// How many steps lie between meetings: always the same number, or one with that mean, drawn anew
/// each time as the number of throws until something of the probability 1 / mean happens.
enum class Interval { fixed, geometric };

/// PairScheduler of all ranks in random pairs, numbered from 0. All ranks know whom each is with,
/// and after how many steps of their own they are due, without asking each other.
class RandomMeetings {
 public:
  /// Those of a run of `steps` steps; `mean_interval` in steps, at least 1.
  RandomMeetings(std::uint64_t seed, Interval interval, std::int64_t mean_interval, long steps);

  long count() const { return std::ssize(due_); }
  /// Whether there is a meeting of that number, and it comes after step `step`, the first being 0.
  bool due_after(long step, long meeting) const {
    return meeting < count() && due_[static_cast<std::size_t>(meeting)] == step;
  }
  /// A perfect matching, weights 1/2; one of an odd number of ranks meets nobody.
  Peers peers(int rank, int size, long meeting) const { return pairs_->peers(rank, size, meeting); }

 private:
  std::shared_ptr<const PeerGraph> pairs_;
  std::vector<long> due_;  // after which step, by number
};

}  // namespace trigram
