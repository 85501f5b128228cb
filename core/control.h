#pragma once

#include <cstdint>
#include <optional>

namespace trigram {

struct Message {
  int source = 0;
  std::int64_t a = 0, b = 0;
};

/// The control plane: small host messages to any rank from any source; activations, votes,
/// requests. Never on the GPU, never a load on the links. Each stream has its own, and same-named
/// streams talk to each other. First-in-first-out per (tag, source).
class Control {
 public:
  virtual ~Control() = default;
  /// Never blocks. `dest` may be the own rank: such a message may come from any stream of the rank,
  /// which is how one stream wakes another that waits in `receive`.
  virtual void post(int dest, int tag, std::int64_t a, std::int64_t b = 0) = 0;
  /// Blocks for the next message with this tag; empty when the owning stream is closed.
  virtual std::optional<Message> receive(int tag) = 0;
  /// Does not block; empty when there is none.
  virtual std::optional<Message> poll(int tag) = 0;
};

}  // namespace trigram
