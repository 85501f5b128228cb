#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/host/world.h"
#include "runtime/mpi/stream_comms.h"

namespace trigram::mpi {

class MpiWorld;

/// The same-named streams of all ranks, of which this process has one.
class MpiGroup final : public host::Group {
 public:
  MpiGroup(MpiWorld& world, const std::string& name, std::int64_t id, const StreamComms& comms);
  host::Endpoint& at(int rank) override;
  std::unique_ptr<Communicator> communicator(host::Endpoint& self) override;
  std::unique_ptr<Control> control(host::Endpoint& self) override;
  /// The same on all ranks, whoever forked first.
  std::int64_t id() const { return id_; }
  const StreamComms& comms() const { return comms_; }
  host::Endpoint& endpoint() { return endpoint_; }

 private:
  MpiWorld& world_;
  const std::int64_t id_;
  const StreamComms comms_;
  host::Endpoint endpoint_;
};

}  // namespace trigram::mpi
