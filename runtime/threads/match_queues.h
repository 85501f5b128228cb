#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "netmodels/transport.h"
#include "runtime/host/endpoint.h"
#include "runtime/host/staging.h"
#include "runtime/threads/shaped_network.h"

namespace trigram::threads {

using host::Endpoint;
using host::PostedTransfer;
using host::StagedTensor;

/// A message that an eager transport has accepted, so its send is complete. Its receive completes
/// once it is matched, its tensor has the values, and the message has arrived. The mutex of the
/// receiver's endpoint guards it, except for the values: they belong to the sender until `packed`
/// is set, and to the reader afterwards.
struct Parcel {
  explicit Parcel(double its_nbytes) : nbytes(its_nbytes) {}
  const double nbytes;  // priced bytes
  StagedTensor values;
  bool packed = false;               // `values` is complete
  PostedTransfer* reader = nullptr;  // the matching receive; null until there is one
  bool read = false;                 // the reader has the values
  bool arrived = false;
  bool received() const { return reader != nullptr && read && arrived; }
};

/// The matching queues for messages from one rank to another on one stream. Messages of
/// TrafficClass::answer have separate queues. The mutex of the receiver's endpoint guards them.
struct MatchQueues {
  std::vector<PostedTransfer*> receives;        // posted receives that have no message yet
  std::list<std::shared_ptr<Parcel>> accepted;  // accepted messages that have no receive yet
  std::vector<PostedTransfer*> sends;           // sends that are neither accepted nor matched
  std::int64_t held_messages = 0;               // number of messages accepted but not yet received
  double held_bytes = 0;
  ShapedNetwork::SendQueue send_queue;  // guarded by the ShapedNetwork's mutex

  bool has_room(const Transport& transport, double nbytes, TrafficClass traffic) const {
    return transport.accepts(held_messages, held_bytes, nbytes, traffic);
  }
  void hold(double nbytes) {
    ++held_messages;
    held_bytes += nbytes;
  }
  void release(double nbytes) {
    --held_messages;
    held_bytes -= nbytes;
  }
};

/// Marks a transfer as done. The caller holds the owner's mutex. Returns true if the owner must be
/// woken.
inline bool mark_done(Endpoint& owner, PostedTransfer& half) {
  half.done = true;
  return --owner.outstanding == 0 || owner.withdrawing;
}

/// Completes a transfer of `owner`, and wakes `owner` if it waits for the transfer.
inline void complete(Endpoint& owner, PostedTransfer& half) {
  bool awaited;
  {
    std::lock_guard lock(owner.mutex);
    awaited = mark_done(owner, half);
  }
  if (awaited) owner.wake.notify_one();
}

/// Applies `change` to a parcel. If the parcel is then received, completes its receive and wakes a
/// sender that waits for room.
template <class Change>
void progress(Endpoint& sender, Endpoint& receiver, MatchQueues& queues, Parcel& parcel,
              Change change) {
  bool awaited = false, send_waits = false;
  {
    std::lock_guard lock(receiver.mutex);
    change();
    if (!parcel.received()) return;
    queues.release(parcel.nbytes);
    send_waits = !queues.sends.empty();
    awaited = mark_done(receiver, *parcel.reader);
  }
  if (awaited) receiver.wake.notify_one();
  if (!send_waits) return;
  {
    std::lock_guard lock(sender.mutex);
    sender.retry_sends = true;
  }
  sender.wake.notify_one();
}

}  // namespace trigram::threads
