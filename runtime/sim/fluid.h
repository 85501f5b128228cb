#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/communicator.h"
#include "netmodels/coupled_rounds.h"
#include "runtime/sim/untimed.h"

namespace trigram::sim {

/// Collectives as coupled flows: one flow passes all links of a ring at once, at the pace of the
/// slowest, in place of the messages of all rounds. It starts when the last rank has come, shares
/// links with whatever else passes them, and all ranks go on when it and the rounds' latencies are
/// over. Messages that carry values are delivered when all have come, and take no time.
class FluidCollectives {
 public:
  /// `always`, or only where that is known to agree with messages.
  FluidCollectives(World& world, bool always);

  /// Makes the collective; false, on all of its ranks alike, where it is to be made of messages.
  bool make(SimStream& stream, const Rounds& rounds, const std::function<void()>& messages);

  /// Told of batches of messages, which may pass the same links.
  void batch_starts(int rank, std::span<const Transfer> batch);
  void batch_ends() { --batches_; }
  UntimedMessages& untimed() { return untimed_; }

  /// Collectives that went as flows and as messages, and times that a flow shared a link with
  /// something else, in which flows and messages differ.
  struct Counts {
    std::uint64_t fluid = 0, by_messages = 0, shared = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  /// A collective under way.
  struct Meeting {
    enum State { gathering, delivering, over } state = gathering;
    bool by_messages = false, valued = false;
    std::vector<SimStream*> waiting;
    std::size_t arrived = 0;
    std::size_t first = 0;  // place where a chain begins
    double longest = 0;     // bytes
    struct Work {
      std::vector<double> each_s;  // by place; empty where nobody computes
      double after_s = 0;
    };
    std::array<Work, 2> work;  // by phase
  };
  /// Ranks that meet again and again on one stream.
  struct Circle {
    StreamId stream;
    std::vector<int> members;
    std::unordered_map<int, std::size_t> place;  // of a rank among them
    std::map<std::pair<Rounds::Pattern, std::size_t>, CoupledRounds> patterns;  // by first place
    std::shared_ptr<Meeting> meeting;  // to which not all have come
  };

  Circle& circle(const SimStream& stream, std::span<const int> members);
  bool goes_by_messages(Circle& circle, Rounds::Pattern pattern);
  const CoupledRounds& coupled(Circle& circle, Rounds::Pattern pattern, std::size_t first);
  void arrive(Meeting& meeting, const Circle& circle, const SimStream& stream,
              const Rounds& rounds) const;
  void flow(Meeting& meeting, const CoupledRounds& pattern, SimStream& stream, const Rounds& rounds,
            const std::function<void()>& messages);
  static void deliver(SimStream& stream, const std::function<void()>& messages);
  void occupy(const CoupledRounds& pattern);
  void leave(const CoupledRounds& pattern);
  void shared();
  static void advance(Meeting& meeting, Meeting::State state);

  World& world_;
  const bool always_;
  UntimedMessages untimed_;
  std::unordered_map<std::uint64_t, std::vector<std::unique_ptr<Circle>>> circles_;  // by hash
  std::vector<int> flowing_;  // collectives, by link
  int flows_ = 0, batches_ = 0;
  bool conflicts_ = false;
  Counts counts_;
};

}  // namespace trigram::sim
