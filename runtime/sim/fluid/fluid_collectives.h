#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/communicator.h"
#include "netmodels/coupled_rounds.h"
#include "netmodels/h_relation.h"
#include "netmodels/pipeline.h"
#include "runtime/sim/fluid/coupled_flows.h"
#include "runtime/sim/fluid/deferred_time.h"
#include "runtime/sim/fluid/untimed_messages.h"

namespace trigram::sim {

/// Collectives as coupled flows: a single flow represents all messages of a ring. It uses all links
/// of the ring at once, at the pace of the slowest message. netmodels/pipeline.h computes the time
/// at which each rank finishes from the times at which the ranks arrive. The flow starts when the
/// last rank has arrived, and shares links with other traffic. If sharing delays it, the ranks that
/// have not finished yet finish later by the same time. Messages that carry values are delivered
/// without taking time.
///
/// No rank blocks: its stream continues from the deferred end of the collective (DeferredTime). It
/// may run ahead to the next collective, unless it must know that end earlier.
class FluidCollectives {
 public:
  /// `always` uses flows for all collectives; otherwise flows are used only where they are known to
  /// agree with messages.
  FluidCollectives(World& world, bool always);

  /// Runs the collective. If it must consist of messages, returns false on all of its ranks.
  bool run(SimStream& stream, const CollectivePattern& collective,
           const std::function<void()>& messages);

  UntimedMessages& untimed() { return untimed_; }
  CoupledFlows& flows() { return flows_; }

  /// The numbers of collectives that were simulated as flows and as messages, and the number of
  /// times that a flow came to share a link with other traffic. When it does, flows and messages
  /// give different times. Also the number of all-to-all exchanges that were simulated as flows
  /// between NICs that differ. By messages, ranks whose NICs are fast begin the next exchange while
  /// slow ones still receive, and the messages of both share the slow NICs; flows do not show that.
  struct Counts {
    std::uint64_t fluid = 0, by_messages = 0, shared = 0, between_unequal_nics = 0;
  };
  Counts counts() const {
    return {fluid_, by_messages_, flows_.shared_count(), between_unequal_nics_};
  }

 private:
  struct RankSet;
  /// The time at which a rank arrives at a collective, and the time at which the collective ends
  /// for it. Both are stored together, because an arriving rank uses both.
  struct Member {
    DeferredTime arrival = DeferredTime::at(0);
    SimEvent end;  // an h-relation ends for all members with the first member's event
  };
  /// A collective at which ranks are arriving.
  struct PendingCollective {
    RankSet& rank_set;
    const CollectivePattern::Shape shape;
    const TrafficClass traffic;
    const bool by_messages;
    std::size_t arrived = 0;
    std::size_t first = 0;                              // place of the first rank of a chain
    Pipeline pipeline = {};                             // for rings and chains
    std::unique_ptr<HRelation> relation = {};           // for h-relations, instead of `pipeline`
    std::optional<HRelation::Flow> relation_flow = {};  // must outlive the flow
    std::shared_ptr<std::vector<Member>> members = {};  // by place; may outlive this object
    std::size_t known = 0;  // number of members, from the first on, whose arrival time is known
    double start_s = 0;     // arrival of the last member so far
  };
  /// The connections along the edges of a pattern.
  struct Connections {
    std::vector<PipelineConnection> by_edge;
    std::vector<TcpWindow*> windows;  // by edge; null inside nodes; empty if no TCP windows exist
  };
  /// A set of ranks that run collectives together on one stream. A rank's place is its index in the
  /// set.
  struct RankSet {
    StreamId stream;
    std::vector<int> members;
    std::unordered_map<int, std::size_t> place;  // of each rank in `members`
    /// By shape, traffic class, and place of the first rank of a chain.
    std::map<std::tuple<CollectivePattern::Shape, TrafficClass, std::size_t>, CoupledRounds>
        patterns;
    std::map<const CoupledRounds*, Connections> connections;
    std::map<const CoupledRounds*, CoupledRounds> sustained;  // see sustained_pattern()
    /// The collectives that some members have not joined yet.
    std::deque<std::shared_ptr<PendingCollective>> pending;
    std::vector<std::size_t> joined;  // number of collectives joined, by place
    std::size_t complete = 0;         // number of collectives at which all members have arrived
    bool has_disjoint_sets = false;   // the stream has a set without a common member
    bool has_h_relations = false;     // the set has had one
  };

  RankSet& rank_set(const SimStream& stream, std::span<const int> members);
  void find_disjoint_sets(RankSet& rank_set);
  bool uses_messages(RankSet& rank_set, const CollectivePattern& collective);
  const CoupledRounds& coupled(RankSet& rank_set, CollectivePattern::Shape shape,
                               TrafficClass traffic, std::size_t first);
  std::shared_ptr<PendingCollective> new_pending(RankSet& rank_set,
                                                 const CollectivePattern& collective);
  std::shared_ptr<PendingCollective> join_next(RankSet& rank_set, std::size_t place,
                                               const CollectivePattern& collective);
  void arrive(PendingCollective& pending, std::size_t place, const CollectivePattern& collective,
              const DeferredTime& when) const;
  void schedule_flow(const std::shared_ptr<PendingCollective>& pending);
  void start_flow(const std::shared_ptr<PendingCollective>& pending);
  std::vector<double> ends_s(PendingCollective& pending, const CoupledRounds& pattern);
  Connections& connections(PendingCollective& pending, const CoupledRounds& pattern);
  void open_windows(PendingCollective& pending, const CoupledRounds& pattern,
                    Connections& connections);
  static const CoupledRounds& sustained_pattern(RankSet& rank_set, const CoupledRounds& pattern,
                                                double bytes, double alone_s);
  void start_pipeline_flow(const std::shared_ptr<PendingCollective>& pending,
                           const CoupledRounds& pattern, std::vector<double> ends_s);
  void start_relation_flow(const std::shared_ptr<PendingCollective>& pending,
                           const CoupledRounds& pattern);

  World& world_;
  const bool always_;
  UntimedMessages untimed_;
  CoupledFlows flows_;
  std::unordered_map<std::uint64_t, std::vector<std::unique_ptr<RankSet>>> rank_sets_;  // by hash
  std::uint64_t fluid_ = 0, by_messages_ = 0, between_unequal_nics_ = 0;
};

}  // namespace trigram::sim
