#pragma once

#include "core/control.h"
#include "runtime/host/endpoint.h"

namespace trigram::mpi {

class MpiGroup;
class MpiWorld;

/// Control messages of streams travel through the world's control channel.
class MpiControl final : public Control {
 public:
  MpiControl(MpiWorld& world, const MpiGroup& group, host::Endpoint& self)
      : world_(world), group_(group), self_(self) {}
  void post(int dest, int tag, std::int64_t a, std::int64_t b) override;
  std::optional<Message> receive(int tag) override;
  std::optional<Message> poll(int tag) override;

 private:
  MpiWorld& world_;
  const MpiGroup& group_;
  host::Endpoint& self_;
};

}  // namespace trigram::mpi
