#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "core/communicator.h"
#include "core/cost.h"

namespace trigram {

/// The messages of a collective, as one rank sees them: rounds, in each of which a rank sends at
/// most one message, receives at most one, and then computes; or a single round in which any rank
/// sends to any others (Valiant's h-relation). Only data orders the rounds of different ranks: a
/// rank sends in round j what it has received in round j - 1, wherever the other ranks are.
struct CollectivePattern {
  enum Shape {
    ring,        // in every round rank r sends to r + 1, and the last rank to the first
    chain,       // the same from some first rank on, but the last rank sends to nobody
    h_relation,  // in one round rank r sends all of `sent` at once
  } shape = ring;
  /// Rounds after each of which this rank computes for at most `each`, and at whose end it computes
  /// for `after`. A chain has one round for each of its pieces.
  struct Phase {
    int rounds = 0;
    Cost each = {}, after = {};
  };
  std::array<Phase, 2> phases = {};
  /// Priced bytes of the parts that travel around a ring, of which the member at place p of P sends
  /// part (p + first_part - j) mod P in round j; or of the pieces of a chain, in order.
  std::function<std::size_t(std::size_t part)> part_nbytes = {};
  int first_part = 0;
  /// How much this rank sends in all, and to whom; an h-relation has one entry for each message.
  struct Sent {
    int to;
    std::uint64_t messages, bytes;
    bool answers = false;  // on the connection of TrafficClass::answer
  };
  std::span<const Sent> sent = {};
  TrafficClass traffic = TrafficClass::collective;
  /// The messages carry values, so they have to be made although their time is modelled.
  bool valued = false;
  /// The ranks of the communicator that take part; empty for all of them.
  std::span<const int> members = {};
};

/// Prices collectives as a whole, in worlds whose time is modelled: one event stands for all
/// messages of a collective, which is much faster to simulate.
class CollectivePricer {
 public:
  /// The messages of a collective. `timed`: whether they take the time of ordinary messages.
  using Messages = std::function<void(bool timed)>;

  virtual ~CollectivePricer() = default;
  /// Makes a collective whose messages are as `pattern` says. Either calls `messages(true)`, or
  /// prices the whole: then the messages take no time, so `messages(false)` is called if they carry
  /// values, and nothing is called if they do not. All members call it with the same pattern and
  /// the same numbers of rounds.
  virtual void price(const CollectivePattern& pattern, const Messages& messages) = 0;
};

}  // namespace trigram
