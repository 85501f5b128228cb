#include "runtime/threads/communicator.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/host/endpoint.h"
#include "runtime/threads/match_queues.h"
#include "runtime/threads/shaped_network.h"
#include "runtime/threads/world.h"

namespace trigram::threads {

ThreadsCommunicator::ThreadsCommunicator(ThreadsGroup& group, Endpoint& self)
    : group_(group),
      self_(self),
      network_(static_cast<ThreadsWorld&>(self.world).network()),
      transport_(static_cast<ThreadsWorld&>(self.world).transport()),
      staging_(static_cast<ThreadsWorld&>(self.world).staging(self.rank)) {}

int ThreadsCommunicator::size() const { return self_.world.layout().ranks(); }

std::int64_t ThreadsCommunicator::buffered(std::size_t nbytes) const {
  if (!eager()) return 0;
  return transport_.max_buffered_messages(static_cast<double>(nbytes),
                                          TrafficClass::point_to_point);
}

void ThreadsCommunicator::transfer(std::span<const Transfer> batch) {
  host::check_on_stream(self_);
  for (const Transfer& t : batch) check_peer(rank(), t.peer, size(), self_.stream);
  self_.world.check_not_failed();
  if (network_ != nullptr) self_.spend(network_->overhead_s(rank(), batch));
  prepare(batch);
  try {
    // Receives are posted first, because a send whose receive is posted is neither staged nor
    // blocked.
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
  host::make_halves(batch, halves_, staged_);
  waiting_sends_.clear();
  completed_own_ = 0;
  std::lock_guard lock(self_.mutex);
  self_.batch = halves_;
  self_.outstanding = halves_.size();
  self_.retry_sends = false;
}

Endpoint& ThreadsCommunicator::receiver_of(const PostedTransfer& half) {
  return half.kind == Transfer::send ? group_.receivers().at(half.peer) : self_;
}

MatchQueues& ThreadsCommunicator::queues_for(const PostedTransfer& half) {
  if (half.kind == Transfer::recv) return group_.queues(rank(), half.peer, half.traffic);
  return group_.receivers().queues(half.peer, rank(), half.traffic);
}

void ThreadsCommunicator::complete_own(PostedTransfer& half) {
  half.done = true;
  ++completed_own_;
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
      if (!parcel->packed) return;  // its sender will copy the values
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
    const bool travels_unmatched = eager() && network_ != nullptr;
    if (!queues.receives.empty() && !travels_unmatched) {
      receive = queues.receives.front();
      queues.receives.erase(queues.receives.begin());
    } else if (eager() && queues.sends.empty() &&
               queues.has_room(transport_, static_cast<double>(half.tensor->priced_nbytes()),
                               half.traffic)) {
      parcel = accept(queues, half);
      receive = parcel->reader;
    } else {
      queues.sends.push_back(&half);
      waiting_sends_.push_back(&half);
    }
  }
  if (parcel) send_accepted(half, parcel, receive);
  else if (receive != nullptr) match(half, *receive);
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
  complete_own(mine);
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
    // The world fails before the partner can see its half as complete.
    self_.world.fail(std::current_exception());
    return std::current_exception();
  }
  return nullptr;
}

void ThreadsCommunicator::await_completion() {
  for (;;) {
    {
      std::unique_lock lock(self_.mutex);
      self_.outstanding -= std::exchange(completed_own_, 0);
      self_.park(lock, {.kind = Wait::message},
                 [&] { return self_.outstanding == 0 || self_.retry_sends; });
      self_.retry_sends = false;
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
/// copying. Once transfer() has thrown, no thread uses the caller's buffers.
void ThreadsCommunicator::withdraw() noexcept {
  for (PostedTransfer& half : halves_) {
    MatchQueues& queues = queues_for(half);
    auto& waiting = half.kind == Transfer::send ? queues.sends : queues.receives;
    std::lock_guard lock(receiver_of(half).mutex);
    if (!half.posted || std::erase(waiting, &half) > 0) half.done = true;
  }
  std::unique_lock lock(self_.mutex);
  // The halves that were taken back still count as outstanding, so any completion may be the last
  // one.
  self_.withdrawing = true;
  self_.wake.wait(lock, [&] {
    return std::ranges::all_of(halves_, [](const PostedTransfer& h) { return h.done; });
  });
  self_.batch = {};
  self_.withdrawing = false;
}

}  // namespace trigram::threads
