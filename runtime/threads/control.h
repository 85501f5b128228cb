#pragma once

#include "core/control.h"
#include "runtime/host/endpoint.h"

namespace trigram::threads {

class ThreadsGroup;
using host::Endpoint;

/// Control messages go straight into the inbox of the destination's same-named stream. On an
/// emulated network, messages to other ranks arrive after the latency of the route.
class ThreadsControl final : public Control {
 public:
  ThreadsControl(ThreadsGroup& group, Endpoint& self) : group_(group), self_(self) {}
  void post(int dest, int tag, std::int64_t a, std::int64_t b) override;
  std::optional<Message> receive(int tag) override;
  std::optional<Message> poll(int tag) override;

 private:
  ThreadsGroup& group_;
  Endpoint& self_;
};

}  // namespace trigram::threads
