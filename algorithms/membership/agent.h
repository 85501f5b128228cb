#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "algorithms/membership/coordinator.h"
#include "core/control.h"
#include "core/membership.h"

// The control agents of Members, and their messages.

namespace trigram {

// A message's `a` is its kind plus 64 times its argument.
enum MembersMessage : int {
  // From the worker of a rank to rank 0.
  kArrived,    // at a round: argument step, b round
  kPair,       // argument partner, b number
  kStopped,    // the worker has stopped
  kNoticed,    // the others notice that
  kJoins,      // b: the least step with which it can begin
  kServes,     // argument: the rank to which it sends its state now
  kHealed,     // it has the state of another worker
  kEnded,      // it has made its last step
  kGraceOver,  // b: round
  // From rank 0 to a rank, which passes it on to its worker.
  kMembers,  // argument index, b the bits of 64 ranks of a group
  kGroup,    // b: the round; the group is complete
  kLate,
  kServe,  // argument rank and what it takes, b the least step
  kKeep,
  kQuiet,  // the answer to kStopped and kNoticed, after all that was sent before
  kAllEnded,
  kLost,
  // From the agent of a rank to its worker, and from a worker to a worker.
  kAveraged,  // b: the round or number
  kState,     // argument: the step of the sender, which now sends its state
};

inline constexpr std::int64_t kKinds = 64, kBits = 64;

inline std::int64_t encoded(int kind, std::int64_t argument) { return kind + kKinds * argument; }
inline int kind_of(const Message& message) { return static_cast<int>(message.a % kKinds); }
inline long argument_of(const Message& message) { return static_cast<long>(message.a / kKinds); }

inline void add_members(std::vector<int>& group, const Message& message) {
  for (std::int64_t bit = 0; bit < kBits; ++bit)
    if ((static_cast<std::uint64_t>(message.b) >> bit) & 1)
      group.push_back(static_cast<int>(argument_of(message) * kBits + bit));
}

/// The control agent of one rank. That of rank 0 owns the Coordinator; the others pass on what
/// their worker says to it, and its answers to their worker. They run the averages in the
/// background.
struct MembersAgent : std::enable_shared_from_this<MembersAgent> {
  /// Ends when training does.
  void run(Context c);
  void pass_messages(Context c);
  void decide(const Message& m);
  Coordinator::Answers answers(Context c);
  void deliver(const Context& c, const Message& message);
  /// Waits until `end_s`, and tells rank 0, unless training ends before.
  void wait_for_grace(const Context& c, double end_s, long round);

  Rounds rounds;
  std::vector<bool> begins;  // by rank
  std::function<void(Context, int)> average;
  std::function<void(Context)> restart;
  Membership* membership = nullptr;
  Stream *state = nullptr, *grace = nullptr;
  Control *main = nullptr, *control = nullptr;
  std::optional<Coordinator> coordinator;  // on rank 0
  std::function<void(int rank, int kind, std::int64_t argument, std::int64_t b)> answer;
  std::vector<int> group;  // of an average in the background, whose members are being received
  std::atomic<bool> ended = false;  // the stream `grace` reads it
  std::unique_ptr<Mutex> ending;    // whoever holds it without `ended` may use `control`
};

}  // namespace trigram
