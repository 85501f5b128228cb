#pragma once

#include <deque>
#include <optional>
#include <unordered_map>

#include "core/control.h"

namespace trigram::sim {

class SimStream;

/// Control messages that have arrived for one stream of one rank. The stream may not exist yet.
class Inbox {
 public:
  void push(int tag, const Message& message);
  std::optional<Message> pop(int tag);
  bool has(int tag) const;
  /// The stream to wake when a message arrives.
  void set_owner(SimStream* owner) { owner_ = owner; }

 private:
  std::unordered_map<int, std::deque<Message>> messages_;  // by tag
  SimStream* owner_ = nullptr;
};

/// Control messages arrive after the latency of the route and do not load links. Control messages
/// that arrive at the same time are received in the order of posting.
class SimControl final : public Control {
 public:
  SimControl(SimStream& stream, Inbox& inbox) : stream_(stream), inbox_(inbox) {}
  void post(int dest, int tag, std::int64_t a, std::int64_t b) override;
  std::optional<Message> receive(int tag) override;
  std::optional<Message> poll(int tag) override;

 private:
  void post_here(int tag, const Message& message);

  SimStream& stream_;
  Inbox& inbox_;
};

}  // namespace trigram::sim
