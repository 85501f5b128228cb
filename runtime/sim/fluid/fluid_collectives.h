#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/communicator.h"
#include "netmodels/coupled_rounds.h"
#include "netmodels/h_relation.h"
#include "netmodels/pipeline.h"
#include "runtime/sim/fluid/coupled_flows.h"
#include "runtime/sim/fluid/deferred_time.h"
#include "runtime/sim/fluid/untimed_messages.h"

namespace trigram::sim {

/// Collectives as coupled flows: one flow passes all links of a ring at once, at the pace of the
/// slowest, in place of its messages. When each rank is through follows from when each has come, by
/// the recursion of netmodels/pipeline.h; the flow starts when the last has come, shares links with
/// whatever else passes them, and what sharing adds all ranks have later. Messages that carry
/// values are delivered, and take no time.
///
/// No rank waits for that: its stream goes on from an instant that will be known then, to the next
/// collective if nothing else has to be known before.
class FluidCollectives {
 public:
  /// `always`, or only where that is known to agree with messages.
  FluidCollectives(World& world, bool always);

  /// Makes the collective; false, on all of its ranks alike, where it is to be made of messages.
  bool make(SimStream& stream, const CollectivePattern& collective,
            const std::function<void()>& messages);

  UntimedMessages& untimed() { return untimed_; }
  CoupledFlows& flows() { return flows_; }

  /// Collectives that went as flows and as messages, and times that a flow came to share a link
  /// with something else, in which flows and messages differ.
  struct Counts {
    std::uint64_t fluid = 0, by_messages = 0, shared = 0;
  };
  Counts counts() const { return {fluid_, by_messages_, flows_.meetings()}; }

 private:
  struct Circle;
  /// When a rank comes to a collective, and when the collective is over for it. Both are in one
  /// place of memory, because a rank that comes uses both.
  struct Member {
    DeferredTime come = DeferredTime::at(0);
    SimEvent end;  // an h-relation ends for all members at once, with that of the first
  };
  /// A collective to which ranks come.
  struct Meeting {
    Circle& circle;
    const CollectivePattern::Shape shape;
    const TrafficClass traffic;
    const bool by_messages;
    std::size_t arrived = 0;
    std::size_t first = 0;                     // place where a chain begins
    Pipeline pipeline = {};                    // of rings and chains
    std::unique_ptr<HRelation> relation = {};  // of CollectivePattern::h_relation, in place of that
    std::optional<HRelation::Flow> at_once = {};
    std::shared_ptr<std::vector<Member>> members = {};  // by place; may outlast the meeting
    std::size_t known = 0;                              // of their coming, from the first place on
    double start_s = 0;                                 // when the last has come
  };
  /// Of the edges of a pattern.
  struct Connections {
    std::vector<PipelineConnection> all;
    std::vector<TcpWindow*> windows;  // null for edges inside nodes; empty where none opens
  };
  /// Ranks that meet again and again on one stream.
  struct Circle {
    StreamId stream;
    std::vector<int> members;
    std::unordered_map<int, std::size_t> place;  // of a rank among them
    std::map<std::tuple<CollectivePattern::Shape, TrafficClass, std::size_t>, CoupledRounds>
        patterns;  // by traffic and first place, too
    std::map<const CoupledRounds*, Connections> connections;
    std::map<const CoupledRounds*, CoupledRounds> sustained;
    std::deque<std::shared_ptr<Meeting>> meetings;  // to which not all have come
    std::vector<std::size_t> attended;              // meetings, by place
    std::size_t over = 0;                           // meetings to which all have come
    bool has_rivals = false;                        // on its stream
  };

  Circle& circle(const SimStream& stream, std::span<const int> members);
  void find_rivals(Circle& circle);
  bool goes_by_messages(Circle& circle, const CollectivePattern& collective);
  const CoupledRounds& coupled(Circle& circle, CollectivePattern::Shape shape, TrafficClass traffic,
                               std::size_t first);
  std::shared_ptr<Meeting> new_meeting(Circle& circle, const CollectivePattern& collective);
  std::shared_ptr<Meeting> next_meeting(Circle& circle, std::size_t place,
                                        const CollectivePattern& collective);
  void arrive(Meeting& meeting, std::size_t place, const CollectivePattern& collective,
              const DeferredTime& when) const;
  void start(const std::shared_ptr<Meeting>& meeting);
  void flow(const std::shared_ptr<Meeting>& meeting);
  std::vector<double> ends_s(Meeting& meeting, const CoupledRounds& pattern);
  Connections& connections(Meeting& meeting, const CoupledRounds& pattern);
  void open_windows(Meeting& meeting, const CoupledRounds& pattern, Connections& connections);
  static const CoupledRounds& paced(Circle& circle, const CoupledRounds& pattern, double bytes,
                                    double alone_s);
  void pass_on(const std::shared_ptr<Meeting>& meeting, const CoupledRounds& pattern,
               std::vector<double> ends_s);
  void flow_at_once(const std::shared_ptr<Meeting>& meeting, const CoupledRounds& pattern);

  World& world_;
  const bool always_;
  UntimedMessages untimed_;
  CoupledFlows flows_;
  std::unordered_map<std::uint64_t, std::vector<std::unique_ptr<Circle>>> circles_;  // by hash
  std::uint64_t fluid_ = 0, by_messages_ = 0;
};

}  // namespace trigram::sim
