#include "runtime/mpi/common_zero.h"

#include <array>
#include <fstream>

#include "runtime/mpi/session.h"

namespace trigram::mpi {

host::Clock::time_point common_zero(MPI_Comm comm, double timeout_s) {
  using host::Clock;
  struct Zero {
    std::array<char, 40> machine{};
    Clock::rep time = Clock::now().time_since_epoch().count();
  } mine, first;
  std::ifstream("/proc/sys/kernel/random/boot_id").read(mine.machine.data(), 36);
  first = mine;
  MPI_Request request;
  check(MPI_Ibcast(&first, sizeof first, MPI_BYTE, 0, comm, &request), "MPI_Ibcast");
  await_or_abort(request, timeout_s);
  return first.machine == mine.machine ? Clock::time_point(Clock::duration(first.time))
                                       : Clock::now();
}

}  // namespace trigram::mpi
