#pragma once

#include <simgrid/s4u/Mailbox.hpp>
#include <unordered_map>
#include <vector>

namespace trigram::sim {

class SimStream;

/// Tracks which ranks have messages in flight, in worlds where these slow down computation.
///
/// For a rank, a message is in flight from the time at which both sides have started it until this
/// rank's wait for it ends. The waits of a batch end in the order of its messages, so a wait may
/// end after its message has arrived.
class Overlap {
 public:
  explicit Overlap(int ranks) : ranks_(static_cast<std::size_t>(ranks)) {}

  /// Records that one side of a message to or from another rank starts. `box` is the mailbox of the
  /// message.
  void started(const simgrid::s4u::Mailbox* box, bool sends, int rank, int peer);
  /// Records that `rank` has finished waiting for a message.
  void arrived(int rank) { change(rank, -1); }
  /// For eager transports: a message is in flight from its send until it is received.
  void sent(int from, int to) {
    change(from, 1);
    change(to, 1);
  }
  void received(int from, int to) {
    change(from, -1);
    change(to, -1);
  }

  /// True if the rank has messages in flight.
  bool in_flight(int rank) const { return ranks_[static_cast<std::size_t>(rank)].messages > 0; }
  /// Between the calls of subscribe and unsubscribe, `stream` of `rank` is notified when
  /// in_flight() changes.
  void subscribe(int rank, SimStream& stream);
  void unsubscribe(int rank, SimStream& stream);

 private:
  struct Rank {
    int messages = 0;
    std::vector<SimStream*> computing;  // subscribed streams
  };
  void change(int rank, int by);

  std::vector<Rank> ranks_;
  std::unordered_map<const simgrid::s4u::Mailbox*, long> unmatched_;  // sends minus receives
};

}  // namespace trigram::sim
