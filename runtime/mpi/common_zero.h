#pragma once

#include <mpi.h>

#include "runtime/host/clock.h"

namespace trigram::mpi {

/// The zero of a world's clock, chosen so that times of different ranks can be compared. Ranks on
/// the machine of rank 0 share its clock and use the time at which rank 0 called this function.
/// Ranks on other machines use the time at which rank 0's message arrived, so their zero is late by
/// the latency of that message. All ranks of `comm` must call it. If some do not within
/// `timeout_s`, the job is aborted as by await_or_abort.
host::Clock::time_point common_zero(MPI_Comm comm, double timeout_s);

}  // namespace trigram::mpi
