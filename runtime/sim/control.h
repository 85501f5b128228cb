#pragma once

#include "core/control.h"
#include "runtime/sim/inbox.h"

namespace trigram::sim {

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
