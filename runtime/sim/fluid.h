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
#include "runtime/sim/coupled_flows.h"
#include "runtime/sim/instant.h"
#include "runtime/sim/untimed.h"

namespace trigram::sim {

/// Collectives as coupled flows: one flow passes all links of a ring at once, at the pace of the
/// slowest, in place of the messages of all rounds. It starts when the last rank has come, shares
/// links with whatever else passes them, and all ranks go on when it and the rounds' latencies are
/// over. Messages that carry values are delivered, and take no time.
///
/// No rank waits for that: its stream goes on from an instant that will be known then, to the next
/// collective if nothing else has to be known before.
class FluidCollectives {
 public:
  /// `always`, or only where that is known to agree with messages.
  FluidCollectives(World& world, bool always);

  /// Makes the collective; false, on all of its ranks alike, where it is to be made of messages.
  bool make(SimStream& stream, const Rounds& rounds, const std::function<void()>& messages);

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
  /// A collective to which ranks come.
  struct Meeting {
    Circle& circle;
    const Rounds::Pattern pattern;
    const Pattern traffic;
    const bool by_messages;
    std::size_t arrived = 0;
    std::size_t first = 0;  // place where a chain begins
    double longest = 0;     // bytes
    struct Phase {
      int rounds = 0;
      std::vector<double> each_s;  // by place; empty where nobody computes
      double after_s = 0;
    };
    std::array<Phase, 2> phases = {};
    std::unique_ptr<HRelation> relation = {};  // of Rounds::h_relation, in place of all that
    std::optional<HRelation::Flow> at_once = {};
    double start_s = 0;                   // of those who came when that was known
    std::vector<Instant> not_known = {};  // when others come
    std::shared_ptr<Milestone> end = std::make_shared<Milestone>();
  };
  /// Ranks that meet again and again on one stream.
  struct Circle {
    StreamId stream;
    std::vector<int> members;
    std::unordered_map<int, std::size_t> place;  // of a rank among them
    std::map<std::tuple<Rounds::Pattern, Pattern, std::size_t>, CoupledRounds>
        patterns;                                    // by traffic and first place, too
    std::deque<std::shared_ptr<Meeting>> meetings;  // to which not all have come
    std::vector<std::size_t> attended;              // meetings, by place
    std::size_t over = 0;                           // meetings to which all have come
    bool has_rivals = false;                        // on its stream
  };

  Circle& circle(const SimStream& stream, std::span<const int> members);
  void find_rivals(Circle& circle);
  bool goes_by_messages(Circle& circle, const Rounds& rounds);
  const CoupledRounds& coupled(Circle& circle, Rounds::Pattern pattern, Pattern traffic,
                               std::size_t first);
  std::shared_ptr<Meeting> next_meeting(Circle& circle, std::size_t place, const Rounds& rounds);
  void arrive(Meeting& meeting, std::size_t place, const Rounds& rounds, const Instant& when) const;
  void start(const std::shared_ptr<Meeting>& meeting);
  void flow(const std::shared_ptr<Meeting>& meeting);
  void flow_at_once(const std::shared_ptr<Meeting>& meeting, const CoupledRounds& pattern);

  World& world_;
  const bool always_;
  UntimedMessages untimed_;
  CoupledFlows flows_;
  std::unordered_map<std::uint64_t, std::vector<std::unique_ptr<Circle>>> circles_;  // by hash
  std::uint64_t fluid_ = 0, by_messages_ = 0;
};

}  // namespace trigram::sim
