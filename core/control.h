#pragma once

#include <cstdint>
#include <optional>

namespace trigram {

/// A small message from the rank `source`. Sender and receiver agree on the meaning of a and b.
struct Message {
  int source = 0;
  std::int64_t a = 0, b = 0;
};

/// The control plane: small host messages from any rank to any rank, such as activations, votes and
/// requests. They never touch the GPU and do not load the links. Each stream has its own control
/// plane, and streams of the same name talk to each other. Messages are first-in-first-out per
/// (tag, source).
class Control {
 public:
  virtual ~Control() = default;
  /// Never blocks. `dest` may be this rank: any of its streams may post such a message, so that one
  /// stream can wake another that waits in `receive`.
  virtual void post(int dest, int tag, std::int64_t a, std::int64_t b = 0) = 0;
  /// Blocks until a message with this tag arrives; returns nothing once the owning stream is
  /// closed.
  virtual std::optional<Message> receive(int tag) = 0;
  /// Returns a waiting message with this tag, or nothing; does not block.
  virtual std::optional<Message> poll(int tag) = 0;
};

}  // namespace trigram
