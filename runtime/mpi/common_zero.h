#pragma once

#include <mpi.h>

#include "runtime/host/clock.h"

namespace trigram::mpi {

/// The zero of a world's clock, chosen so that times of different ranks can be compared. Ranks on
/// the machine of rank 0 share its clock and use the time at which rank 0 called this function.
/// Ranks on other machines use the time at which rank 0's message arrived, which is late by its
/// latency. All ranks of `comm` call it; it aborts the job as `complete` does.
host::Clock::time_point common_zero(MPI_Comm comm, double timeout_s);

}  // namespace trigram::mpi
