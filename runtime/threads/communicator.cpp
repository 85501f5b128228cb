#include "runtime/threads/communicator.h"

#include <algorithm>
#include <cstring>

#include "runtime/host/batch.h"
#include "runtime/threads/world.h"

namespace trigram::threads {
int ThreadsCommunicator::size() const { return self_.world.layout().ranks(); }

void ThreadsCommunicator::transfer(std::span<const Transfer> batch) {
  host::check_on_stream(self_);
  for (const Transfer& t : batch) check_peer(rank(), t.peer, size(), self_.stream);
  self_.world.check_not_failed();
  prepare(batch);
  try {
    // Receives first: the more sends find their receiver waiting, the fewer senders block.
    for (Half& half : halves_)
      if (half.kind == Transfer::recv) post(half);
    for (Half& half : halves_)
      if (half.kind == Transfer::send) post(half);
    await_completion();
  } catch (...) {
    withdraw();
    throw;
  }
}

void ThreadsCommunicator::prepare(std::span<const Transfer> batch) {
  host::halves_of(batch, halves_, staged_);
  completed_here_ = 0;
  std::lock_guard lock(self_.mutex);
  self_.batch = halves_;
  self_.outstanding = halves_.size();
}

std::vector<Half*>& ThreadsCommunicator::meeting_place(const Half& half, Endpoint*& receiver) {
  const bool sends = half.kind == Transfer::send;
  receiver = sends ? &group_.at(half.peer) : &self_;
  return group_.meeting(receiver->rank, sends ? rank() : half.peer);
}

void ThreadsCommunicator::post(Half& half) {
  Half* partner = nullptr;
  {
    Endpoint* receiver;
    auto& waiting = meeting_place(half, receiver);
    std::lock_guard lock(receiver->mutex);
    if (!waiting.empty() && waiting.front()->kind != half.kind) {
      partner = waiting.front();
      waiting.erase(waiting.begin());
    } else {
      waiting.push_back(&half);
    }
    half.posted = true;
  }
  if (partner != nullptr) copy(half, *partner);
}

void ThreadsCommunicator::copy(Half& mine, Half& theirs) {
  const bool sends = mine.kind == Transfer::send;
  const Tensor& sent = sends ? *mine.tensor : *theirs.tensor;
  const Tensor& received = sends ? *theirs.tensor : *mine.tensor;
  std::exception_ptr mismatch;
  try {
    check_match(sent, sends ? rank() : mine.peer, received, sends ? mine.peer : rank(),
                self_.stream);
    if (!sent.is_phantom() && sent.nbytes() > 0)
      std::memcpy(received.data(), sent.data(), sent.nbytes());
  } catch (...) {
    mismatch = std::current_exception();
    self_.world.fail(mismatch);  // before the partner can take its half for completed
  }
  mine.done = true;
  ++completed_here_;
  Endpoint& partner = group_.at(mine.peer);
  bool awaited;
  {
    std::lock_guard lock(partner.mutex);
    theirs.done = true;
    awaited = --partner.outstanding == 0 || partner.withdrawing;
  }
  if (awaited) partner.wake.notify_one();
  if (mismatch) std::rethrow_exception(mismatch);
}

void ThreadsCommunicator::await_completion() {
  std::unique_lock lock(self_.mutex);
  self_.outstanding -= completed_here_;
  self_.park(lock, {.kind = Wait::message}, [&] { return self_.outstanding == 0; });
  self_.batch = {};
  lock.unlock();
  self_.world.check_not_failed();
}

/// Takes back what no partner has met, and waits for partners that are still copying: after
/// transfer() has thrown, nobody touches the caller's buffers.
void ThreadsCommunicator::withdraw() noexcept {
  for (Half& half : halves_) {
    Endpoint* receiver;
    auto& waiting = meeting_place(half, receiver);
    std::lock_guard lock(receiver->mutex);
    if (!half.posted || std::erase(waiting, &half) > 0) half.done = true;
  }
  std::unique_lock lock(self_.mutex);
  // What was taken back stays outstanding, so that any completion may be the last.
  self_.withdrawing = true;
  self_.wake.wait(lock, [&] {
    return std::all_of(halves_.begin(), halves_.end(), [](const Half& h) { return h.done; });
  });
  self_.batch = {};
  self_.withdrawing = false;
}

}  // namespace trigram::threads
