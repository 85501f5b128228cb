#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "core/context.h"

namespace trigram::test {

/// Medians of four variants of an f32 allreduce, measured in turns within one run, in seconds.
struct AllreduceTimes {
  double bare = 0;         // a plain loop over MPI_Allreduce, in place
  double nonblocking = 0;  // the same over MPI_Iallreduce and MPI_Wait
  double native = 0;       // Communicator::native
  double ring = 0;         // the ring of this project
};

/// Measures on all ranks of an MPI world at the same time. Returns the times of the slowest rank on
/// all ranks.
AllreduceTimes time_allreduces(const Context& ctx, std::size_t bytes, int rounds);

/// The bytes that each rank sends to average `numel` floats by c_lp_s with minmax_uint8, as in
/// ByteGrad, divided by the bytes that it sends for a ring allreduce.
double bytegrad_share(const Context& ctx, std::size_t numel);

/// Launches an MPI world with as many ranks as the job has processes.
void launch_in_job(const std::function<void(Context)>& rank_main);

}  // namespace trigram::test
