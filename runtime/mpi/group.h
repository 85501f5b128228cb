#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/host/world.h"

namespace trigram::mpi {

class MpiWorld;

/// The same-named streams of all ranks, of which this process hosts one.
class MpiGroup final : public host::Group {
 public:
  /// Data messages use `data_comm`, all other messages `comm`. The two are equal, except for a
  /// group that sends to another group (fork_one_way): its `data_comm` is that group's
  /// communicator.
  MpiGroup(MpiWorld& world, const std::string& name, std::int64_t id, MPI_Comm comm,
           MPI_Comm data_comm);
  host::Endpoint& at(int rank) override;
  std::unique_ptr<Communicator> communicator(host::Endpoint& self) override;
  std::unique_ptr<Control> control(host::Endpoint& self) override;
  void flush(Communicator& communicator) override;
  /// A number that is the same on all ranks, in whatever order they fork.
  std::int64_t id() const { return id_; }
  MPI_Comm comm() const { return comm_; }
  MPI_Comm data_comm() const { return data_comm_; }
  host::Endpoint& endpoint() { return endpoint_; }

 private:
  MpiWorld& world_;
  const std::int64_t id_;
  const MPI_Comm comm_, data_comm_;
  host::Endpoint endpoint_;
};

}  // namespace trigram::mpi
