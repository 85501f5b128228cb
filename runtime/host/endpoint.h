#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/accelerator_backend.h"
#include "core/communicator.h"
#include "core/control.h"
#include "core/stream.h"
#include "core/wait_text.h"

namespace trigram::host {

class World;
class HostWork;

/// Thrown out of every wait once the world has failed, to unwind its threads. Not a std::exception,
/// so that no handler of an algorithm mistakes it for an error of its own.
struct Aborted {};

/// One half of a message: a send or a receive, in the batch of the stream that owns it. It lives on
/// its owner's side; `done` is set under the owner's mutex.
struct PostedTransfer {
  Transfer::Kind kind;
  const Tensor* tensor;
  int peer;
  TrafficClass traffic = TrafficClass::collective;
  bool posted = false;  // a partner may know it
  bool done = false;
};

struct Job {
  Task task;
  std::shared_ptr<AcceleratorEvent> after;  // null without an accelerator
  std::shared_ptr<HostWork> work;
};

/// One stream of one rank as the streams that talk to it see it: where messages, tasks and wake-ups
/// for it arrive. One mutex guards it all, and its thread alone sleeps on the condition variable:
/// waking it never wakes another.
struct Endpoint {
  /// Patient: it waits for what may take its time, and has a deadline of its own.
  enum class State : unsigned char { absent, running, idle, blocked, patient, ended };

  Endpoint(World& its_world, const std::string& name, int its_rank)
      : world(its_world), stream(name), rank(its_rank) {}

  World& world;
  const std::string& stream;
  const int rank;
  AcceleratorStream* queue = nullptr;  // of the stream, if its world has accelerators

  std::mutex mutex;  // guards everything below
  std::condition_variable wake;
  State state = State::absent;
  Wait wait;
  std::uint64_t waits_over = 0;  // lets the watchdog see progress between two looks
  bool closing = false;

  std::span<PostedTransfer> batch;  // of the transfer() call in progress
  std::size_t outstanding = 0;      // halves of it that are not done
  bool room_made = false;           // a transport may take what it had no room for
  bool withdrawing = false;         // the call ends by an exception

  double overslept_s = 0;              // of modelled time
  std::uint64_t waits_over_since = 0;  // waits_over at that time

  std::map<int, std::deque<Message>> inbox;  // control messages by tag
  // What the accelerator had to do before the messages that other streams of this rank sent.
  std::vector<std::shared_ptr<AcceleratorEvent>> before_inbox;
  std::deque<Job> jobs;

  /// Blocks the stream that owns this endpoint until `ready()` holds, which is evaluated under the
  /// mutex that `lock` holds. Throws Aborted when the world fails first.
  template <class Ready>
  void park(std::unique_lock<std::mutex>& lock, const Wait& why, Ready ready,
            State while_parked = State::blocked);
  /// Sleeps on the stream that owns this endpoint. Throws Aborted when the world fails first.
  void sleep(double seconds);
  /// The same for time that is modelled, such as that of a layer: what it sleeps too long, as
  /// sleeping does, it takes off the next time if the stream has waited for nothing since.
  void spend(double seconds);
  /// Makes the owner evaluate again what it waits for.
  void poke() noexcept;
  void set_state(State next, const Wait& why = {});
  /// What the blocked owner waits for, in words. Call with the mutex held.
  std::string wait_line() const;
};

/// What the calling thread's stream has issued to its accelerator; null if it has none.
std::shared_ptr<AcceleratorEvent> issued_here();

/// The endpoint whose thread is calling; null outside the world's threads.
Endpoint*& this_endpoint();

/// Throws InvariantError unless the calling thread is the one of `endpoint`.
void check_on_stream(const Endpoint& endpoint);
/// The same for the thread of any stream of the endpoint's rank.
void check_on_rank(const Endpoint& endpoint);

}  // namespace trigram::host
