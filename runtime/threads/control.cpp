#include "runtime/threads/control.h"

#include "runtime/threads/world.h"

namespace trigram::threads {
namespace {

std::optional<Message> take(std::deque<Message>& messages) {
  if (messages.empty()) return std::nullopt;
  Message first = messages.front();
  messages.pop_front();
  return first;
}

}  // namespace

void ThreadsControl::post(int dest, int tag, std::int64_t a, std::int64_t b) {
  if (dest == self_.rank) check_on_rank(self_);
  else check_on_stream(self_);
  check_peer(self_.rank, dest, static_cast<int>(self_.meeting.size()), self_.stream);
  self_.world.check_not_failed();
  Endpoint& receiver = group_.at(dest);
  bool awaited;
  {
    std::lock_guard lock(receiver.mutex);
    receiver.inbox[tag].push_back({self_.rank, a, b});
    awaited = receiver.wait.kind == Wait::control && receiver.wait.tag == tag;
  }
  if (awaited) receiver.wake.notify_one();
}

std::optional<Message> ThreadsControl::receive(int tag) {
  check_on_stream(self_);
  std::unique_lock lock(self_.mutex);
  auto& messages = self_.inbox[tag];
  self_.park(lock, {.kind = Wait::control, .tag = tag},
             [&] { return !messages.empty() || self_.closing; });
  return take(messages);
}

std::optional<Message> ThreadsControl::poll(int tag) {
  check_on_stream(self_);
  self_.world.check_not_failed();  // or a loop that polls would outlive the world
  std::lock_guard lock(self_.mutex);
  return take(self_.inbox[tag]);
}

}  // namespace trigram::threads
