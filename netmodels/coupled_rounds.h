#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "core/collective_pricer.h"
#include "netmodels/cluster.h"
#include "netmodels/network/network.h"
#include "netmodels/pipeline.h"

namespace trigram {

/// The ways of the messages of a ring, chain or h-relation among some ranks of a network: the edges
/// from each member to the next, and the links that all of them pass together.
///
/// An h-relation has links and a latency only; `HRelation` gives its time.
class CoupledRounds {
 public:
  /// `members` are ranks of the network, in the order of the pattern; a chain starts at `first` of
  /// them. `traffic` is what their messages are.
  CoupledRounds(const Network& network, const Cluster& cluster, CollectivePattern::Shape shape,
                TrafficClass traffic, std::span<const int> members, std::size_t first);

  /// Of a ring or chain, from member `first` on. Messages of one round that pass the same link
  /// share it evenly.
  std::span<const PipelineEdge> edges() const { return edges_; }

  /// Of an h-relation: each link so many times, where a flow that passes one `most` times takes all
  /// of the slowest.
  CoupledRounds repeated(std::span<const int> times_by_link, int most) const;

  /// All links that the messages pass, as often as messages of one round do.
  std::span<const LinkId> links() const { return links_; }
  /// Bytes per second at which all messages go on together, with nothing else on their links.
  double bandwidth() const { return bandwidth_Bps_; }
  /// The same at which long messages go on, where windows bind.
  double sustained_bandwidth() const { return std::min(bandwidth_Bps_, sustained_Bps_); }
  /// These rounds at that pace.
  CoupledRounds sustained() const;
  /// Share of the links' bandwidth that traffic of this pattern gets: each byte takes as much of
  /// them as 1 / share bytes do.
  double share() const { return share_; }
  /// The ends of a message that is no faster.
  int slowest_source() const { return slowest_source_; }
  int slowest_destination() const { return slowest_destination_; }
  /// Whether messages take exactly the time of the edges: no two of them pass the same link.
  bool exact() const { return exact_; }

 private:
  void add_pairs(const Network& network, const Cluster& cluster, std::span<const int> members);
  void add_edges(const Network& network, const Cluster& cluster, std::span<const int> members,
                 std::size_t first);

  CollectivePattern::Shape shape_;
  TrafficClass traffic_;
  std::vector<PipelineEdge> edges_;
  std::vector<LinkId> links_;
  double bandwidth_Bps_ = 0, share_ = 1;
  double sustained_Bps_ = std::numeric_limits<double>::infinity();
  int slowest_source_ = 0, slowest_destination_ = 0;
  bool exact_ = true;
};

/// Whether a cluster is one whose rounds take what `CoupledRounds` says: its links do not change
/// with time, and computation does not suffer from messages.
bool foreseeable(const Cluster& cluster);
/// Whether its collectives can be coupled flows all the same: how long one takes on NICs with token
/// buckets is for the simulator to find out.
bool can_couple(const Cluster& cluster);

}  // namespace trigram
