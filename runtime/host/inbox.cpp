#include "runtime/host/inbox.h"

#include "runtime/host/world.h"

namespace trigram::host {
namespace {

std::optional<Message> take(std::deque<Message>& messages) {
  if (messages.empty()) return std::nullopt;
  Message first = messages.front();
  messages.pop_front();
  return first;
}

}  // namespace

void deliver(Endpoint& receiver, int tag, const Message& message) {
  bool awaited;
  {
    std::lock_guard lock(receiver.mutex);
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
  return take(messages);
}

std::optional<Message> poll(Endpoint& self, int tag) {
  check_on_stream(self);
  self.world.check_not_failed();  // or a loop that polls would outlive the world
  std::lock_guard lock(self.mutex);
  return take(self.inbox[tag]);
}

}  // namespace trigram::host
