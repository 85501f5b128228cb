#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <string>

#include "runtime/host/clock.h"

namespace trigram::mpi {

/// A small message between processes: a control message of a stream, or a message of the world
/// itself.
struct ControlMessage {
  enum Kind : std::int64_t {
    control,  // to `stream`: tag, a, b
    failed,   // the world ends, with the sender's error if it has one
    ended,    // the sender's main task has ended; a: whether the world has failed, b: whether the
              // sender has announced a failure
    put,      // a bootstrap value; text: the key, a zero byte, the value
    status,   // to rank 0: the state of the sender's streams; from rank 0: a sign that it is alive
    last,     // the sender's last message; not delivered
  } kind = control;
  std::int64_t stream = 0, tag = 0, a = 0, b = 0;
  std::string text = {};
};

/// The control plane of a world, over its own MPI communicator. Nothing blocks except `close`.
/// Sends and receives progress in `poll`, which any thread may call.
class ControlChannel {
 public:
  using Deliver = std::function<void(int source, const ControlMessage&)>;
  /// `poll` calls `deliver` for one message at a time, and in order for each source.
  ControlChannel(MPI_Comm comm, Deliver deliver) : comm_(comm), deliver_(std::move(deliver)) {}

  void send(int dest, const ControlMessage& message);
  /// Sends a message once the delay has passed, during a call of `poll`, or at once if the delay is
  /// zero. Messages to the same rank with equal delays keep their order.
  void send_after(host::Clock::duration delay, int dest, const ControlMessage& message);
  /// Sends the messages that are due and delivers those that have arrived. Returns false if there
  /// was nothing to deliver, or if another thread is delivering.
  bool poll();
  /// True when all messages that were sent have left.
  bool idle();
  /// Receives until no message can be in flight, so that the communicator can be freed. (Otherwise
  /// a late message could be received on a new communicator, in place of one of that communicator's
  /// messages.) All ranks must call it, as their last use of the channel. Returns false if a rank
  /// does not call it within `timeout`.
  bool close(int rank, int ranks, host::Clock::duration timeout);

 private:
  struct Outgoing {
    std::string bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Waiting {
    host::Clock::time_point due;
    int dest;
    ControlMessage message;
  };
  void forget_sent();
  void post(int dest, const ControlMessage& message);
  void send_due();

  MPI_Comm comm_;
  const Deliver deliver_;
  std::mutex delivery_;  // one thread delivers at a time, so that messages keep their order
  std::mutex outgoing_mutex_;
  std::list<Outgoing> outgoing_;
  std::atomic<int> last_messages_ = 0;
  std::deque<Waiting> waiting_;  // in order of due time, because delays are equal
};

}  // namespace trigram::mpi
