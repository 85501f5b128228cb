#include "runtime/sim/control.h"

#include "runtime/sim/stream.h"

namespace trigram::sim {

void Inbox::push(int tag, const Message& message) {
  messages_[tag].push_back(message);
  if (owner_) owner_->wake();
}

bool Inbox::has(int tag) const {
  const auto found = messages_.find(tag);
  return found != messages_.end() && !found->second.empty();
}

std::optional<Message> Inbox::pop(int tag) {
  if (!has(tag)) return std::nullopt;
  auto& queue = messages_[tag];
  const Message message = queue.front();
  queue.pop_front();
  return message;
}

void SimControl::post(int dest, int tag, std::int64_t a, std::int64_t b) {
  World& world = stream_.world();
  stream_.check_current();
  check_peer(stream_.rank(), dest, world.layout().ranks(), stream_.name());
  const Message message{stream_.rank(), a, b};
  if (dest == stream_.rank()) {
    inbox_.push(tag, message);
    return;
  }
  const double arrival = stream_.now() + world.cluster().latency(stream_.rank(), dest);
  world.deliver(arrival, stream_.id(), dest, tag, message);
}

std::optional<Message> SimControl::receive(int tag) {
  stream_.check_current();
  stream_.block({.kind = Wait::control, .tag = tag},
                [&] { return inbox_.has(tag) || stream_.closing(); });
  return inbox_.pop(tag);
}

std::optional<Message> SimControl::poll(int tag) {
  stream_.check_current();
  stream_.settle();
  return inbox_.pop(tag);
}

}  // namespace trigram::sim
