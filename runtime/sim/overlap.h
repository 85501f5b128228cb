#pragma once

#include <simgrid/s4u/Mailbox.hpp>
#include <unordered_map>
#include <vector>

namespace trigram::sim {

class SimStream;

/// Which ranks have messages under way, told where computation is slower beside them.
///
/// A message is under way from when both of its sides have started it until they have waited for
/// it, which is when it has arrived, unless an earlier message of the same batch arrives later.
class Overlap {
 public:
  explicit Overlap(int ranks) : ranks_(static_cast<std::size_t>(ranks)) {}

  /// One side of a message to or from another rank starts. `box` is where the two meet.
  void started(const simgrid::s4u::Mailbox* box, bool sends, int rank, int peer);
  /// `rank` has waited for a message.
  void arrived(int rank) { change(rank, -1); }
  /// Of eager transports: a message is under way from when it is sent until it is received.
  void sent(int from, int to) {
    change(from, 1);
    change(to, 1);
  }
  void received(int from, int to) {
    change(from, -1);
    change(to, -1);
  }

  bool under_way(int rank) const { return ranks_[static_cast<std::size_t>(rank)].messages > 0; }
  /// Between these two, `stream`, of `rank`, is told when that changes.
  void tell(int rank, SimStream& stream);
  void tell_no_more(int rank, SimStream& stream);

 private:
  struct Rank {
    int messages = 0;
    std::vector<SimStream*> computing;
  };
  void change(int rank, int by);
  std::vector<Rank> ranks_;
  std::unordered_map<const simgrid::s4u::Mailbox*, long> unmatched_;  // sends, less receives
};

}  // namespace trigram::sim
