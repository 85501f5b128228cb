#include "runtime/threads/communicator.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/host/batch.h"
#include "runtime/threads/match_queues.h"
#include "runtime/threads/shaped_network.h"
#include "runtime/threads/world.h"

namespace trigram::threads {
namespace {

/// The caller holds the owner's mutex. Returns true if the owner must be woken.
bool note_completion(Endpoint& owner, PostedTransfer& half) {
  half.done = true;
  return --owner.outstanding == 0 || owner.withdrawing;
}

void complete(Endpoint& owner, PostedTransfer& half) {
  bool awaited;
  {
    std::lock_guard lock(owner.mutex);
    awaited = note_completion(owner, half);
  }
  if (awaited) owner.wake.notify_one();
}

/// Applies `change` to a parcel, and completes its receive if nothing else is missing.
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

double priced_nbytes(const PostedTransfer& half) {
  return static_cast<double>(half.tensor->priced_nbytes());
}

}  // namespace

ThreadsCommunicator::ThreadsCommunicator(ThreadsGroup& group, Endpoint& self)
    : group_(group),
      self_(self),
      network_(static_cast<ThreadsWorld&>(self.world).network()),
      transport_(static_cast<ThreadsWorld&>(self.world).transport()),
      staging_(static_cast<ThreadsWorld&>(self.world).staging(self.rank)) {}

int ThreadsCommunicator::size() const { return self_.world.layout().ranks(); }

std::int64_t ThreadsCommunicator::buffered(std::size_t nbytes) const {
  if (!eager()) return 0;
  return transport_.held_at_once(static_cast<double>(nbytes), TrafficClass::point_to_point);
}

void ThreadsCommunicator::transfer(std::span<const Transfer> batch) {
  host::check_on_stream(self_);
  for (const Transfer& t : batch) check_peer(rank(), t.peer, size(), self_.stream);
  self_.world.check_not_failed();
  if (network_ != nullptr) self_.spend(network_->overhead_s(rank(), batch));
  prepare(batch);
  try {
    // Post receives first: the more sends find their receive posted, the fewer are staged or block.
    for (PostedTransfer& half : halves_)
      if (half.kind == Transfer::recv) post_receive(half);
    for (PostedTransfer& half : halves_)
      if (half.kind == Transfer::send) post_send(half);
    await_completion();
  } catch (...) {
    withdraw();
    throw;
  }
}

void ThreadsCommunicator::prepare(std::span<const Transfer> batch) {
  host::halves_of(batch, halves_, staged_);
  waiting_sends_.clear();
  completed_here_ = 0;
  std::lock_guard lock(self_.mutex);
  self_.batch = halves_;
  self_.outstanding = halves_.size();
  self_.room_made = false;
}

Endpoint& ThreadsCommunicator::receiver_of(const PostedTransfer& half) {
  return half.kind == Transfer::send ? group_.receivers().at(half.peer) : self_;
}

MatchQueues& ThreadsCommunicator::queues_for(const PostedTransfer& half) {
  if (half.kind == Transfer::recv) return group_.queues(rank(), half.peer, half.traffic);
  return group_.receivers().queues(half.peer, rank(), half.traffic);
}

void ThreadsCommunicator::complete_here(PostedTransfer& half) {
  half.done = true;
  ++completed_here_;
}

void ThreadsCommunicator::post_receive(PostedTransfer& half) {
  MatchQueues& queues = queues_for(half);
  std::shared_ptr<Parcel> parcel;
  PostedTransfer* sender = nullptr;
  {
    std::lock_guard lock(self_.mutex);
    half.posted = true;
    if (!queues.accepted.empty()) {
      parcel = std::move(queues.accepted.front());
      queues.accepted.pop_front();
      parcel->reader = &half;
      if (!parcel->packed) return;  // its sender will find the reader
    } else if (!queues.sends.empty() && (!eager() || network_ == nullptr)) {
      sender = queues.sends.front();
      queues.sends.erase(queues.sends.begin());
    } else {
      queues.receives.push_back(&half);
    }
  }
  if (parcel) read(half.peer, queues, *parcel, half);
  if (sender != nullptr) match(half, *sender);
}

void ThreadsCommunicator::post_send(PostedTransfer& half) {
  MatchQueues& queues = queues_for(half);
  std::shared_ptr<Parcel> parcel;
  PostedTransfer* receive = nullptr;
  {
    std::lock_guard lock(receiver_of(half).mutex);
    half.posted = true;
    const bool travels_by_itself = eager() && network_ != nullptr;
    if (!queues.receives.empty() && !travels_by_itself) {
      receive = queues.receives.front();
      queues.receives.erase(queues.receives.begin());
    } else if (eager() && queues.sends.empty() &&
               queues.has_room(transport_, priced_nbytes(half), half.traffic)) {
      parcel = accept(queues, half);
      receive = parcel->reader;
    } else {
      queues.sends.push_back(&half);
      waiting_sends_.push_back(&half);
    }
  }
  if (parcel) hand_over(half, parcel, receive);
  else if (receive != nullptr) match(half, *receive);
}

/// The caller holds the receiver's mutex.
std::shared_ptr<Parcel> ThreadsCommunicator::accept(MatchQueues& queues,
                                                    const PostedTransfer& half) {
  auto parcel = std::make_shared<Parcel>(priced_nbytes(half));
  queues.hold(parcel->nbytes);
  if (queues.receives.empty()) {
    queues.accepted.push_back(parcel);
  } else {
    parcel->reader = queues.receives.front();
    queues.receives.erase(queues.receives.begin());
  }
  return parcel;
}

/// Copies the values of an accepted message, straight to its reader if there was one at acceptance,
/// and starts its travel through the network. The send is then complete.
void ThreadsCommunicator::hand_over(PostedTransfer& half, std::shared_ptr<Parcel> parcel,
                                    PostedTransfer* reader) {
  Endpoint& receiver = receiver_of(half);
  MatchQueues& queues = queues_for(half);
  const double accepted_s = network_ != nullptr ? self_.world.now() : 0;
  std::exception_ptr mismatch;
  const bool straight = reader != nullptr;
  if (straight) {
    mismatch = copy(*half.tensor, rank(), *reader->tensor, half.peer);
  } else {
    parcel->values.pack(*half.tensor, staging_);
    std::lock_guard lock(receiver.mutex);
    parcel->packed = true;
    reader = parcel->reader;
  }
  if (!straight && reader != nullptr)
    mismatch = copy(parcel->values.tensor(), rank(), *reader->tensor, half.peer);
  const bool travels = network_ != nullptr && !mismatch;
  progress(self_, receiver, queues, *parcel, [&] {
    parcel->read = parcel->read || reader != nullptr;
    parcel->arrived = !travels;
  });
  if (travels)
    network_->send(queues.send_queue, accepted_s, rank(), half.peer, half.tensor->priced_nbytes(),
                   [&self = self_, &receiver, &queues, parcel] {
                     progress(self, receiver, queues, *parcel, [&] { parcel->arrived = true; });
                   });
  complete_here(half);
  if (mismatch) std::rethrow_exception(mismatch);
}

/// Hands over waiting sends that fit now that a receiver has freed transport buffers.
void ThreadsCommunicator::retry_waiting_sends() {
  for (PostedTransfer* const half : std::exchange(waiting_sends_, {})) {
    MatchQueues& queues = queues_for(*half);
    std::shared_ptr<Parcel> parcel;
    PostedTransfer* reader = nullptr;
    {
      std::lock_guard lock(receiver_of(*half).mutex);
      const auto at = std::find(queues.sends.begin(), queues.sends.end(), half);
      if (at == queues.sends.end()) continue;  // a receive has matched it
      if (at == queues.sends.begin() &&
          queues.has_room(transport_, priced_nbytes(*half), half->traffic)) {
        queues.sends.erase(queues.sends.begin());
        parcel = accept(queues, *half);
        reader = parcel->reader;
      }
    }
    if (parcel) hand_over(*half, std::move(parcel), reader);
    else waiting_sends_.push_back(half);
  }
}

/// Copies the values of a message that was sent before its receive was posted.
void ThreadsCommunicator::read(int source, MatchQueues& queues, Parcel& parcel,
                               PostedTransfer& half) {
  const std::exception_ptr mismatch = copy(parcel.values.tensor(), source, *half.tensor, rank());
  progress(group_.senders().at(source), self_, queues, parcel, [&] {
    parcel.read = true;
    parcel.values.clear();
  });
  if (mismatch) std::rethrow_exception(mismatch);
}

/// Completes a message without staging. Called by the thread that posts the second half.
void ThreadsCommunicator::match(PostedTransfer& mine, PostedTransfer& theirs) {
  const double matched_s = network_ != nullptr ? self_.world.now() : 0;
  const bool sends = mine.kind == Transfer::send;
  const int source = sends ? rank() : mine.peer, destination = sends ? mine.peer : rank();
  const std::exception_ptr mismatch = copy(sends ? *mine.tensor : *theirs.tensor, source,
                                           sends ? *theirs.tensor : *mine.tensor, destination);
  Endpoint& partner = (sends ? group_.receivers() : group_.senders()).at(mine.peer);
  if (network_ != nullptr && !mismatch) {
    network_->send(matched_s, source, destination, mine.tensor->priced_nbytes(),
                   [&self = self_, &partner, &mine, &theirs] {
                     complete(partner, theirs);
                     complete(self, mine);
                   });
    return;
  }
  complete_here(mine);
  complete(partner, theirs);
  if (mismatch) std::rethrow_exception(mismatch);
}

/// Copies the values. If the halves do not match, fails the world and returns the error.
std::exception_ptr ThreadsCommunicator::copy(const Tensor& sent, int source, const Tensor& received,
                                             int destination) {
  try {
    check_match(sent, source, received, destination, self_.stream);
    if (!sent.is_phantom() && sent.nbytes() > 0)
      std::memcpy(received.data(), sent.data(), sent.nbytes());
  } catch (...) {
    // Fail before the partner can see its half as complete.
    self_.world.fail(std::current_exception());
    return std::current_exception();
  }
  return nullptr;
}

void ThreadsCommunicator::await_completion() {
  for (;;) {
    {
      std::unique_lock lock(self_.mutex);
      self_.outstanding -= std::exchange(completed_here_, 0);
      self_.park(lock, {.kind = Wait::message},
                 [&] { return self_.outstanding == 0 || self_.room_made; });
      self_.room_made = false;
      if (self_.outstanding == 0) {
        self_.batch = {};
        break;
      }
    }
    retry_waiting_sends();
  }
  self_.world.check_not_failed();
}

/// Takes back the halves that no partner has matched, and waits for partners that are still
/// copying. After transfer() has thrown, no thread touches the caller's buffers.
void ThreadsCommunicator::withdraw() noexcept {
  for (PostedTransfer& half : halves_) {
    MatchQueues& queues = queues_for(half);
    auto& waiting = half.kind == Transfer::send ? queues.sends : queues.receives;
    std::lock_guard lock(receiver_of(half).mutex);
    if (!half.posted || std::erase(waiting, &half) > 0) half.done = true;
  }
  std::unique_lock lock(self_.mutex);
  // The halves that were taken back still count as outstanding, so any completion may be the last.
  self_.withdrawing = true;
  self_.wake.wait(lock, [&] {
    return std::all_of(halves_.begin(), halves_.end(),
                       [](const PostedTransfer& h) { return h.done; });
  });
  self_.batch = {};
  self_.withdrawing = false;
}

}  // namespace trigram::threads
