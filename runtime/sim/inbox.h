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

}  // namespace trigram::sim
