#include "runtime/host/endpoint.h"

#include <algorithm>
#include <cstring>

#include "runtime/host/world.h"

namespace trigram::host {

void Endpoint::sleep(double seconds) {
  const std::chrono::duration<double> duration(seconds);
  std::unique_lock lock(mutex);
  wake.wait_for(lock, duration, [&] { return world.failed(); });
  world.check_not_failed();
}

void Endpoint::spend(double seconds) {
  if (seconds <= 0) return;
  if (waits_ended != waits_ended_before) overslept_s = 0;  // a wait has absorbed the excess
  const double begin_s = world.now();
  if (seconds > overslept_s) sleep(seconds - overslept_s);
  overslept_s += world.now() - begin_s - seconds;
  waits_ended_before = waits_ended;
}

void Endpoint::poke() noexcept {
  // Taking the mutex ensures that the owner is not between evaluating its condition and sleeping.
  { std::lock_guard lock(mutex); }
  wake.notify_one();
}

void Endpoint::set_state(State next, const Wait& why) {
  std::lock_guard lock(mutex);
  state = next;
  wait = why;
}

void Endpoint::end_wait() {
  std::lock_guard lock(mutex);
  state = State::running;
  wait = {};
  ++waits_ended;
}

std::string Endpoint::wait_line() const {
  Wait why = wait;
  if (why.kind == Wait::message) {
    // The wait names a half of the batch that is not done, preferably a receive.
    const PostedTransfer* missing = nullptr;
    for (const PostedTransfer& half : batch)
      if (!half.done && (missing == nullptr || missing->kind < half.kind)) missing = &half;
    if (missing != nullptr) {
      why.peer = missing->peer;
      why.kind = missing->kind == Transfer::recv ? Wait::message : Wait::receiver;
    }
  }
  return wait_text(rank, stream, why);
}

std::shared_ptr<AcceleratorEvent> issued_here() {
  const Endpoint* caller = this_endpoint();
  return caller && caller->queue ? caller->queue->record() : nullptr;
}

Endpoint*& this_endpoint() {
  thread_local Endpoint* endpoint = nullptr;
  return endpoint;
}

void check_on_stream(const Endpoint& endpoint) {
  check_owner(this_endpoint() == &endpoint, endpoint.rank, endpoint.stream);
}

void check_post(const Endpoint& sender, int dest) {
  const Endpoint* caller = this_endpoint();
  const bool same_rank = caller && &caller->world == &sender.world && caller->rank == sender.rank;
  check_owner(dest == sender.rank ? same_rank : caller == &sender, sender.rank, sender.stream);
  check_peer(sender.rank, dest, sender.world.layout().ranks(), sender.stream);
  sender.world.check_not_failed();
}

namespace {

/// The caller holds the mutex.
std::optional<Message> take(Endpoint& self, std::deque<Message>& messages) {
  if (messages.empty()) return std::nullopt;
  Message first = messages.front();
  messages.pop_front();
  for (const auto& before : self.before_inbox) self.queue->wait(*before);
  self.before_inbox.clear();
  return first;
}

}  // namespace

void deliver(Endpoint& receiver, int tag, const Message& message) {
  // A control message between streams of the same rank also lets the receiver use everything that
  // the sender issued before it.
  const bool same_rank = message.source == receiver.rank && this_endpoint() != &receiver;
  const auto before = same_rank ? issued_here() : nullptr;
  bool awaited;
  {
    std::lock_guard lock(receiver.mutex);
    if (before) receiver.before_inbox.push_back(before);
    receiver.inbox[tag].push_back(message);
    awaited = receiver.wait.kind == Wait::control && receiver.wait.tag == tag;
  }
  if (awaited) receiver.wake.notify_one();
}

std::optional<Message> receive(Endpoint& self, int tag) {
  check_on_stream(self);
  std::unique_lock lock(self.mutex);
  auto& messages = self.inbox[tag];
  self.park(lock, {.kind = Wait::control, .tag = tag},
            [&] { return !messages.empty() || self.closing; });
  return take(self, messages);
}

std::optional<Message> poll(Endpoint& self, int tag) {
  check_on_stream(self);
  self.world.check_not_failed();  // ends polling loops when the world fails
  std::lock_guard lock(self.mutex);
  return take(self, self.inbox[tag]);
}

namespace {

bool overlaps(const Tensor& a, const Tensor& b) {
  return a.data() < b.data() + b.nbytes() && b.data() < a.data() + a.nbytes();
}

bool is_overwritten(const Tensor& sent, std::span<const Transfer> batch) {
  return !sent.is_phantom() && std::ranges::any_of(batch, [&](const Transfer& t) {
    return t.kind == Transfer::recv && !t.tensor.is_phantom() && overlaps(sent, t.tensor);
  });
}

Tensor staged_copy(const Tensor& x) {
  std::shared_ptr<std::byte> storage(new std::byte[x.nbytes()], std::default_delete<std::byte[]>());
  std::memcpy(storage.get(), x.data(), x.nbytes());
  return Tensor(std::move(storage), x.numel(), x.dtype(), x.priced_numel());
}

}  // namespace

void make_halves(std::span<const Transfer> batch, std::vector<PostedTransfer>& halves,
                 std::vector<Tensor>& staged) {
  halves.clear();
  staged.clear();
  staged.reserve(batch.size());  // keeps the pointers in `halves` valid
  for (const Transfer& t : batch) {
    const Tensor* tensor = &t.tensor;
    if (t.kind == Transfer::send && is_overwritten(t.tensor, batch))
      tensor = &staged.emplace_back(staged_copy(t.tensor));
    halves.push_back({t.kind, tensor, t.peer, t.traffic});
  }
}

}  // namespace trigram::host
