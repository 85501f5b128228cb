#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "core/communicator.h"
#include "core/cost.h"

namespace trigram {

/// The messages of a collective, as one rank sees them. The pattern is either a sequence of rounds
/// or a single round. In each round of a sequence a rank sends at most one message, receives at
/// most one, and then computes. In a single round any rank may send to any number of ranks
/// (Valiant's h-relation). Ranks do not synchronize between rounds: a rank begins round j as soon
/// as it has the data that it received in round j - 1.
struct CollectivePattern {
  enum Shape {
    ring,        // in every round rank r sends to r + 1, and the last rank sends to the first
    chain,       // a ring that is cut before some rank, which thus receives nothing
    h_relation,  // in one round rank r sends all of `sent` at once
  } shape = ring;
  /// Consecutive rounds. A chain has one round per piece.
  struct Phase {
    int rounds = 0;
    Cost per_round = {};  // upper bound of this rank's computation after each round
    Cost at_end = {};     // this rank's computation at the end of the phase
  };
  std::array<Phase, 2> phases = {};
  /// Priced bytes of a part. For a ring, the parts travel around it: the member at position p of P
  /// sends part (p + first_part - j) mod P in round j. For a chain, they are its pieces, in order.
  std::function<std::size_t(std::size_t part)> part_nbytes = {};
  int first_part = 0;
  /// Number of messages and priced bytes that this rank sends to rank `to`. An h-relation has one
  /// entry per message.
  struct Sent {
    int to;
    std::uint64_t messages, bytes;
    bool answers = false;  // sent on the connection for TrafficClass::answer
  };
  std::span<const Sent> sent = {};
  TrafficClass traffic = TrafficClass::collective;
  /// True if the messages carry values. They must then be sent even if a model determines their
  /// time.
  bool valued = false;
  /// The ranks of the communicator that take part; empty means all of them.
  std::span<const int> members = {};
};

/// Prices a collective as a whole, in worlds whose time is modelled: one event stands for all of
/// its messages, which is much faster to simulate.
class CollectivePricer {
 public:
  /// Sends the messages of a collective. If `timed`, they take as long as ordinary messages; else
  /// they take no time.
  using Messages = std::function<void(bool timed)>;

  virtual ~CollectivePricer() = default;
  /// Runs `messages`, whose transfers follow `pattern`. A pricer either calls `messages(true)`, or
  /// models the collective as a whole: it then calls `messages(false)` if the messages carry
  /// values, and does not call it otherwise. All members must call `price` for the same collective,
  /// with the same numbers of rounds.
  virtual void price(const CollectivePattern& pattern, const Messages& messages) = 0;
};

}  // namespace trigram
