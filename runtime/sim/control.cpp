#include "runtime/sim/control.h"

#include <algorithm>

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
  const Message message{stream_.rank(), a, b};
  if (dest == stream_.rank()) {
    post_here(tag, message);
    return;
  }
  stream_.check_current();
  check_peer(stream_.rank(), dest, world.layout().ranks(), stream_.name());
  const double now_s = stream_.now();
  // If a flow has shared links, its end becomes known late, also for ranks that have finished
  // earlier. Their time then lies before the clock, and so may the arrival.
  const double arrival =
      std::max(world.control_arrival_s(now_s, stream_.rank(), dest), Simulation::clock());
  world.deliver(arrival, stream_.id(), dest, tag, message);
}

void SimControl::post_here(int tag, const Message& message) {
  SimStream* poster = stream_.world().current();
  check_owner(poster && poster->rank() == stream_.rank(), stream_.rank(), stream_.name());
  if (poster != &stream_)
    poster->settle();  // the message is posted when the poster's owed time has passed
  inbox_.push(tag, message);
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
