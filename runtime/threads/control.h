#pragma once

#include "core/control.h"
#include "runtime/threads/endpoint.h"

namespace trigram::threads {

class Group;

/// Control messages go straight into the inbox of the destination's same-named stream.
class ThreadsControl final : public Control {
 public:
  ThreadsControl(Group& group, Endpoint& self) : group_(group), self_(self) {}
  void post(int dest, int tag, std::int64_t a, std::int64_t b) override;
  std::optional<Message> receive(int tag) override;
  std::optional<Message> poll(int tag) override;

 private:
  Group& group_;
  Endpoint& self_;
};

}  // namespace trigram::threads
