#include "runtime/mpi/mpi_runtime.h"

namespace trigram {

std::string mpi_absent_reason() {
  return "this build has no MPI; install libopenmpi-dev and openmpi-bin, then configure again";
}

std::string mpi_unavailable_reason() { return mpi_absent_reason(); }

void mpi_start(double) {}

std::vector<std::string> mpi_exchange(const std::string& mine, double) { return {mine}; }

void mpi_abort(const std::string& message, int) { throw std::runtime_error(message); }

std::unique_ptr<Runtime> make_mpi_runtime(const MpiOptions&, AcceleratorFactory) {
  throw std::runtime_error(mpi_unavailable_reason());
}

}  // namespace trigram
