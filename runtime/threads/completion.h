#pragma once

#include <mutex>

#include "runtime/host/endpoint.h"
#include "runtime/threads/match_queues.h"

namespace trigram::threads {

/// Marks a transfer as done. The caller holds the owner's mutex. Returns true if the owner must be
/// woken.
bool note_completion(Endpoint& owner, PostedTransfer& half);

/// Completes a transfer of `owner`, and wakes `owner` if it waits for the transfer.
void complete(Endpoint& owner, PostedTransfer& half);

/// Applies `change` to a parcel. If the parcel is then received, completes its receive and wakes a
/// sender that waits for room.
template <class Change>
void progress(Endpoint& sender, Endpoint& receiver, MatchQueues& queues, Parcel& parcel,
              Change change) {
  bool awaited = false, room_awaited = false;
  {
    std::lock_guard lock(receiver.mutex);
    change();
    if (!parcel.received()) return;
    queues.release(parcel.nbytes);
    room_awaited = !queues.sends.empty();
    awaited = note_completion(receiver, *parcel.reader);
  }
  if (awaited) receiver.wake.notify_one();
  if (!room_awaited) return;
  {
    std::lock_guard lock(sender.mutex);
    sender.room_made = true;
  }
  sender.wake.notify_one();
}

}  // namespace trigram::threads
