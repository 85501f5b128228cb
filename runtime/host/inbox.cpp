#include "runtime/host/inbox.h"

#include "runtime/host/world.h"

namespace trigram::host {
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
  const bool neighbour = message.source == receiver.rank && this_endpoint() != &receiver;
  const auto before = neighbour ? issued_here() : nullptr;
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

}  // namespace trigram::host
