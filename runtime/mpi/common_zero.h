#pragma once

#include <mpi.h>

#include "runtime/host/clock.h"

namespace trigram::mpi {

/// When a world begins, so that times of different ranks can be compared. Ranks of one machine have
/// one clock, whose zero is when rank 0 got here; on others it is when rank 0's message came, late
/// by its latency. Called by all ranks of `comm`; aborts the job as `complete` does.
host::Clock::time_point common_zero(MPI_Comm comm, double patience_s);

}  // namespace trigram::mpi
