#include "runtime/threads/communicator.h"

#include <algorithm>
#include <cstring>

#include "runtime/host/batch.h"
#include "runtime/threads/emulated_network.h"
#include "runtime/threads/world.h"

namespace trigram::threads {
namespace {

void complete(Endpoint& owner, Half& half) {
  bool awaited;
  {
    std::lock_guard lock(owner.mutex);
    half.done = true;
    awaited = --owner.outstanding == 0 || owner.withdrawing;
  }
  if (awaited) owner.wake.notify_one();
}

}  // namespace

ThreadsCommunicator::ThreadsCommunicator(ThreadsGroup& group, Endpoint& self)
    : group_(group), self_(self), network_(static_cast<ThreadsWorld&>(self.world).network()) {}

int ThreadsCommunicator::size() const { return self_.world.layout().ranks(); }

void ThreadsCommunicator::transfer(std::span<const Transfer> batch) {
  host::check_on_stream(self_);
  for (const Transfer& t : batch) check_peer(rank(), t.peer, size(), self_.stream);
  self_.world.check_not_failed();
  if (network_ != nullptr) self_.spend(network_->overhead_s(rank(), batch));
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
  if (partner != nullptr) meet(half, *partner);
}

void ThreadsCommunicator::meet(Half& mine, Half& theirs) {
  const double met_s = network_ != nullptr ? self_.world.now() : 0;
  const std::exception_ptr mismatch = copy(mine, theirs);
  Endpoint& partner = group_.at(mine.peer);
  if (network_ != nullptr && !mismatch) {
    const bool sends = mine.kind == Transfer::send;
    network_->send(met_s, sends ? rank() : mine.peer, sends ? mine.peer : rank(),
                   mine.tensor->priced_nbytes(), [&self = self_, &partner, &mine, &theirs] {
                     complete(partner, theirs);
                     complete(self, mine);
                   });
    return;
  }
  mine.done = true;
  ++completed_here_;
  complete(partner, theirs);
  if (mismatch) std::rethrow_exception(mismatch);
}

/// Hands back what is wrong with the halves, if anything; then the world has failed.
std::exception_ptr ThreadsCommunicator::copy(const Half& mine, const Half& theirs) {
  const bool sends = mine.kind == Transfer::send;
  const Tensor& sent = sends ? *mine.tensor : *theirs.tensor;
  const Tensor& received = sends ? *theirs.tensor : *mine.tensor;
  try {
    check_match(sent, sends ? rank() : mine.peer, received, sends ? mine.peer : rank(),
                self_.stream);
    if (!sent.is_phantom() && sent.nbytes() > 0)
      std::memcpy(received.data(), sent.data(), sent.nbytes());
  } catch (...) {
    // Before the partner can take its half for completed.
    self_.world.fail(std::current_exception());
    return std::current_exception();
  }
  return nullptr;
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
