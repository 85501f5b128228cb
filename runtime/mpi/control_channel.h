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

/// A small message between processes: a control message of a stream, or one of the world's own.
struct ControlMessage {
  enum Kind : std::int64_t {
    control,  // to `stream`: tag, a, b
    failed,   // the world ends, by the sender's error if there is one
    ended,    // the sender's main task has; a: in a failed world, b: which the sender has failed
    put,      // of the bootstrap: the key, a zero, the value
    status,   // what the sender's streams do (to rank 0); and that rank 0 lives (from it)
    last,     // no message of the sender follows; not delivered
  } kind = control;
  std::int64_t stream = 0, tag = 0, a = 0, b = 0;
  std::string text = {};
};

/// The control plane of a world: messages over a communicator of its own. Nothing here blocks; what
/// is sent and received moves on in `poll`, which any thread may call.
class ControlChannel {
 public:
  using Deliver = std::function<void(int source, const ControlMessage&)>;
  /// `deliver` is called from `poll`, one message at a time, in the order of each source.
  ControlChannel(MPI_Comm comm, Deliver deliver) : comm_(comm), deliver_(std::move(deliver)) {}

  void send(int dest, const ControlMessage& message);
  /// The same in a call of `poll` when the delay is over; at once without one. Letters to one rank
  /// that have the same delay keep their order.
  void send_after(host::Clock::duration delay, int dest, const ControlMessage& message);
  /// Sends what is due and delivers what has come. False if there was nothing to deliver, or
  /// another thread is at it.
  bool poll();
  /// True when everything that was sent has left.
  bool idle();
  /// Takes what others have sent until nothing can be on its way, so that the communicator may be
  /// freed: a message that comes later may come to another communicator, in the place of one of its
  /// own. All ranks call it, as their last use. False if some rank does not within `patience`.
  bool close(int rank, int ranks, host::Clock::duration patience);

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
  std::mutex delivery_;  // one thread delivers at a time, or messages would overtake one another
  std::mutex outgoing_mutex_;
  std::list<Outgoing> outgoing_;
  std::atomic<int> last_messages_ = 0;
  std::deque<Waiting> waiting_;  // the one that is due first comes first: delays are equal
};

}  // namespace trigram::mpi
