#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "core/context.h"

namespace trigram::test {

/// Medians of one allreduce of f32 by four ways, taken in turns within one run, in seconds.
struct AllreduceTimes {
  double bare = 0;         // a plain loop over MPI_Allreduce, in place
  double nonblocking = 0;  // the same over MPI_Iallreduce and MPI_Wait
  double native = 0;       // Communicator::native
  double ring = 0;         // the project's own
};

/// Measures on all ranks of a world of MPI together; the same on all of them, that of the slowest.
AllreduceTimes time_allreduces(const Context& ctx, std::size_t bytes, int rounds);

/// Bytes that each rank sends to average so many floats: by c_lp_s with minmax_uint8, as ByteGrad
/// does, over those of a ring allreduce.
double bytegrad_share(const Context& ctx, std::size_t numel);

/// Launches a world of MPI with as many ranks as the job has processes.
void in_the_job(const std::function<void(Context)>& rank_main);

}  // namespace trigram::test
