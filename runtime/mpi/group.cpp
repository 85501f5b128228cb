#include "runtime/mpi/group.h"

#include "core/check.h"
#include "runtime/mpi/communicator.h"
#include "runtime/mpi/control.h"
#include "runtime/mpi/world.h"

namespace trigram::mpi {

MpiGroup::MpiGroup(MpiWorld& world, const std::string& name, std::int64_t id, MPI_Comm comm,
                   MPI_Comm data_comm)
    : Group(name),
      world_(world),
      id_(id),
      comm_(comm),
      data_comm_(data_comm),
      endpoint_(world, this->name(), world.rank()) {}

host::Endpoint& MpiGroup::at(int rank) {
  TRIGRAM_CHECK(rank == endpoint_.rank, "rank {} is not of this process", rank);
  return endpoint_;
}

std::unique_ptr<Communicator> MpiGroup::communicator(host::Endpoint& self) {
  return std::make_unique<MpiCommunicator>(world_, data_comm_, self);
}

void MpiGroup::flush(Communicator& communicator) {
  static_cast<MpiCommunicator&>(communicator).flush();
}

std::unique_ptr<Control> MpiGroup::control(host::Endpoint& self) {
  return std::make_unique<MpiControl>(world_, *this, self);
}

}  // namespace trigram::mpi
