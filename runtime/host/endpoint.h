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

/// Thrown out of every wait once the world has failed, to unwind its threads. It is not a
/// std::exception, so that no handler of an algorithm mistakes it for an error of its own.
struct Aborted {};

/// One half of a message: a send or a receive in the batch of the stream that owns it. The owner
/// stores it; `done` is set under the mutex of the owner's endpoint.
struct PostedTransfer {
  Transfer::Kind kind;
  const Tensor* tensor;
  int peer;
  TrafficClass traffic = TrafficClass::collective;
  bool posted = false;  // a partner may already have a pointer to it
  bool done = false;
};

struct Job {
  Task task;
  std::shared_ptr<AcceleratorEvent> after;  // null without an accelerator
  std::shared_ptr<HostWork> work;
};

/// The side of a stream that other streams see: messages, tasks and wake-ups for the stream arrive
/// here. One mutex guards all of it. Only the stream's own thread sleeps on the condition variable,
/// so a notification never wakes the wrong thread.
struct Endpoint {
  /// timed_wait: in a wait that may take long and has its own deadline.
  enum class State : unsigned char { absent, running, idle, blocked, timed_wait, ended };

  Endpoint(World& its_world, const std::string& name, int its_rank)
      : world(its_world), stream(name), rank(its_rank) {}

  World& world;
  const std::string& stream;
  const int rank;
  AcceleratorStream* queue = nullptr;  // the stream's accelerator queue; null without accelerators

  std::mutex mutex;  // guards everything below
  std::condition_variable wake;
  State state = State::absent;
  Wait wait;
  /// Number of waits that have ended; tells the watchdog about progress.
  std::uint64_t waits_ended = 0;
  bool closing = false;

  std::span<PostedTransfer> batch;  // of the current transfer() call
  std::size_t outstanding = 0;      // number of halves in `batch` that are not done
  bool retry_sends = false;         // the transport has buffer space again for waiting sends
  bool withdrawing = false;         // an exception is leaving the call

  double overslept_s = 0;  // seconds slept beyond the modelled time and not yet made up for
  std::uint64_t waits_ended_before = 0;  // waits_ended when overslept_s was last updated

  std::map<int, std::deque<Message>> inbox;  // control messages by tag
  // Accelerator events that precede the control messages from other streams of this rank.
  std::vector<std::shared_ptr<AcceleratorEvent>> before_inbox;
  std::deque<Job> jobs;

  /// Blocks the stream that owns this endpoint until `ready()` holds, which is evaluated under the
  /// mutex that `lock` holds. Throws Aborted if the world fails first.
  template <class Ready>
  void park(std::unique_lock<std::mutex>& lock, const Wait& why, Ready ready,
            State while_parked = State::blocked);
  /// Puts the stream that owns this endpoint to sleep. Throws Aborted if the world fails first.
  void sleep(double seconds);
  /// Sleeps for modelled time, such as the compute time of a layer. If a call sleeps too long, the
  /// next call sleeps that much less, unless the stream has waited for something in between.
  void spend(double seconds);
  /// Makes the owner evaluate the condition of its wait again.
  void poke() noexcept;
  void set_state(State next, const Wait& why = {});
  /// Ends the wait that set_state() has shown.
  void end_wait();
  /// Describes the event for which the blocked owner waits. The caller holds the mutex.
  std::string wait_line() const;
};

/// An accelerator event after everything that the calling thread's stream has issued; null if there
/// is no accelerator.
std::shared_ptr<AcceleratorEvent> issued_here();

/// The endpoint of the stream whose thread is calling; null outside the world's threads.
Endpoint*& this_endpoint();

/// Throws InvariantError unless the calling thread is the thread of `endpoint`.
void check_on_stream(const Endpoint& endpoint);
/// Throws InvariantError unless the calling thread may post a control message from `sender` to rank
/// `dest`: messages of a rank to itself may be posted by all of its streams. Throws Aborted if the
/// world has failed.
void check_post(const Endpoint& sender, int dest);

/// Puts a control message into the inbox of a stream of this process, and wakes the stream if it
/// waits for this tag. Any thread may call it.
void deliver(Endpoint& receiver, int tag, const Message& message);

/// Implementations of Control::receive and Control::poll for the stream of `self`.
std::optional<Message> receive(Endpoint& self, int tag);
std::optional<Message> poll(Endpoint& self, int tag);

/// Fills `halves` with one element for each send and receive of a batch. If the batch receives into
/// the tensor of one of its sends, that send uses a copy in `staged`, because a message carries the
/// values at the time of the call.
void make_halves(std::span<const Transfer> batch, std::vector<PostedTransfer>& halves,
                 std::vector<Tensor>& staged);

}  // namespace trigram::host
