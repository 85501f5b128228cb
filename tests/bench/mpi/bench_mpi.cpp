// Compares allreduce in the MPI world with a bare MPI_Allreduce. Usage: mpirun -n 2 bench_mpi.

#include <fmt/format.h>

#include <cstdio>

#include "tests/bench/mpi/mpi_speed.h"

namespace {

using namespace trigram;
using namespace trigram::test;

void print(const Context& ctx) {
  const bool prints = ctx.rank() == 0;
  if (prints)
    fmt::print(
        "allreduce of f32, {} ranks, medians in microseconds\n{:>12} {:>10} {:>11} {:>10} "
        "{:>10} {:>12} {:>18} {:>12}\n",
        ctx.size(), "bytes", "bare MPI", "nonblocking", "native", "ring", "bare/native",
        "nonblocking/native", "native/ring");
  for (std::size_t bytes = std::size_t{1} << 12; bytes <= std::size_t{1} << 26; bytes *= 4) {
    const AllreduceTimes t = time_allreduces(ctx, bytes, bytes > (1 << 22) ? 31 : 201);
    if (!prints) continue;
    fmt::print("{:>12} {:>10.1f} {:>11.1f} {:>10.1f} {:>10.1f} {:>12.2f} {:>18.2f} {:>12.2f}\n",
               bytes, 1e6 * t.bare, 1e6 * t.nonblocking, 1e6 * t.native, 1e6 * t.ring,
               t.bare / t.native, t.nonblocking / t.native, t.native / t.ring);
    std::fflush(stdout);
  }
  const double share = bytegrad_share(ctx, std::size_t{1} << 22);
  if (prints)
    fmt::print("ByteGrad's average of 4 Mi floats sends {:.4f} x the bytes of allreduce\n", share);
}

}  // namespace

int main() { launch_in_job(print); }
