#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/communicator.h"
#include "netmodels/cluster.h"
#include "netmodels/network.h"

namespace trigram {

/// The time of collectives whose ranks keep in step, in closed form: what the rounds of a pattern
/// among some ranks of a network have in common.
///
/// In a ring no rank can go ahead of its neighbours by more than a round, so all go at the pace of
/// the slowest: a round takes the longest, over the ranks, of its slower message and of what it
/// computes after that. Messages of one round that pass the same link share it evenly. Of an
/// h-relation there are the links and the latency alone: its time is that of `HRelation`.
class CoupledRounds {
 public:
  /// `members` are ranks of the network, in the order of the pattern; a chain starts at `first` of
  /// them. `traffic` is what their messages are.
  CoupledRounds(const Network& network, const Cluster& cluster, Rounds::Pattern pattern,
                Pattern traffic, std::span<const int> members, std::size_t first);

  /// Seconds of the messages of `rounds` rounds in which they have `bytes` bytes, with what each
  /// member computes after a round; `work_s` is empty where none computes.
  double seconds(int rounds, double bytes, std::span<const double> work_s) const;

  /// Of an h-relation: each link so many times, where a flow that passes one `most` times takes all
  /// of the slowest.
  CoupledRounds repeated(std::span<const int> times_by_link, int most) const;

  /// All links that the messages pass, as often as messages of one round do.
  std::span<const LinkId> links() const { return links_; }
  /// Bytes per second at which all messages go on together, with nothing else on their links.
  double bandwidth() const { return bandwidth_Bps_; }
  /// Share of the links' bandwidth that traffic of this pattern gets: each byte takes as much of
  /// them as 1 / share bytes do.
  double share() const { return share_; }
  /// The ends of a message that is no faster.
  int slowest_source() const { return slowest_source_; }
  int slowest_destination() const { return slowest_destination_; }
  /// Whether messages keep to `seconds` on every rank, whenever ranks come: all take equally long,
  /// and no two of a round pass the same link. Otherwise ranks drift apart: one's message hides
  /// another's latency, and who has fast links leaves earlier.
  bool exact() const { return exact_; }
  /// Whether messages of so many bytes take as long, within a thousandth. If exact.
  bool alike(double shortest, double longest) const;

 private:
  /// A message: what is spent before it moves, and seconds for each byte.
  struct Edge {
    double latency_s = 0, per_byte_s = 0;
    double seconds(double bytes) const { return latency_s + bytes * per_byte_s; }
  };
  void add_pairs(const Network& network, const Cluster& cluster, std::span<const int> members);
  void take_links_of_a_usual_round(const Network& network, std::span<const int> members,
                                   std::size_t first);
  void add_round(const Network& network, const Cluster& cluster, std::span<const int> members,
                 std::size_t first, std::size_t shift, bool closed);

  Rounds::Pattern pattern_;
  Pattern traffic_;
  std::vector<Edge> edges_;    // of a ring or chain, by place in it: to the next
  std::vector<Edge> slowest_;  // of a rotation, by round
  std::vector<LinkId> links_;
  double bandwidth_Bps_ = 0, share_ = 1;
  int slowest_source_ = 0, slowest_destination_ = 0;
  bool exact_ = true;
  // Scratch of add_round.
  std::vector<int> passing_;  // by link
  std::vector<int> sharing_;  // by round: messages that pass one link, at most
  std::vector<std::vector<LinkId>> routes_;
};

/// Whether a cluster is one whose rounds take what `CoupledRounds` says: its links do not change
/// with time, and computation does not suffer from messages.
bool foreseeable(const Cluster& cluster);
/// Whether its collectives can be coupled flows all the same: how long one takes on NICs with token
/// buckets is for the simulator to find out.
bool can_couple(const Cluster& cluster);

}  // namespace trigram
