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

/// The routes of the messages of a ring, a chain or an h-relation among some ranks of a network. It
/// has an edge from each member to the next, and all links that the messages use.
///
/// An h-relation has only links and a latency; `HRelation` computes its time.
class CoupledRounds {
 public:
  /// `members` are ranks of the network, in the order of the pattern; a chain starts at position
  /// `first`. `traffic` is the class of the messages.
  CoupledRounds(const Network& network, const Cluster& cluster, CollectivePattern::Shape shape,
                TrafficClass traffic, std::span<const int> members, std::size_t first);

  /// For a ring or a chain: the edges, beginning at member `first`. Messages of one round that use
  /// the same link share it evenly.
  std::span<const PipelineEdge> edges() const { return edges_; }

  /// For an h-relation: a copy that has link i `times_by_link[i]` times. A link that is repeated
  /// `most` times is saturated.
  CoupledRounds repeated(std::span<const int> times_by_link, int most) const;

  /// All links that messages of one round use. A link appears as often as it is used.
  std::span<const LinkId> links() const { return links_; }
  /// Bytes per second at which all messages move together if nothing else uses their links.
  double bandwidth() const { return bandwidth_Bps_; }
  /// The same for long messages, whose rate may be limited by windows.
  double sustained_bandwidth() const { return std::min(bandwidth_Bps_, sustained_Bps_); }
  /// A copy of these rounds that runs at sustained_bandwidth().
  CoupledRounds sustained() const;
  /// The fraction of the links' bandwidth that this traffic pattern reaches. A byte thus occupies
  /// its links as long as 1 / share() bytes of a collective.
  double share() const { return share_; }
  /// Source and destination of the slowest message; of any of them if several are equally slow.
  int slowest_source() const { return slowest_source_; }
  int slowest_destination() const { return slowest_destination_; }
  /// True if messages take exactly the time of the edges, because no two of them use the same link.
  bool exact() const { return exact_; }

 private:
  void add_pairs(const Network& network, const Cluster& cluster, std::span<const int> members);
  void add_edges(const Network& network, const Cluster& cluster, std::span<const int> members,
                 std::size_t first);

  CollectivePattern::Shape shape_;
  TrafficClass traffic_;
  std::vector<PipelineEdge> edges_;
  std::vector<LinkId> links_;
  double bandwidth_Bps_ = std::numeric_limits<double>::infinity(), share_ = 1;
  double sustained_Bps_ = std::numeric_limits<double>::infinity();
  int slowest_source_ = 0, slowest_destination_ = 0;
  bool exact_ = true;
};

/// True if the simulator can run collectives on this cluster as coupled flows. This requires an
/// eager transport, links whose bandwidth changes with time only by token buckets, and messages
/// that do not slow computation down.
bool can_couple(const Cluster& cluster);
/// True if, in addition, rounds take exactly the time that `CoupledRounds` computes. With token
/// buckets they do not: the simulator itself then computes how long a flow takes.
bool predictable(const Cluster& cluster);

}  // namespace trigram
