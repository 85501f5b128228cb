// Allreduce through a Communicator against a bare loop over ncclAllReduce, with the same ranks and
// the same queue of CUDA: mpirun -n RANKS bench_nccl RANKS_PER_GPU. Prints medians, taken in turns
// within one run, and their ratio, which should be 0.97 at least from 4 MiB.

#include <cuda_runtime.h>
#include <fmt/format.h>
#include <nccl.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/context.h"
#include "cuda/cuda_accelerator.h"
#include "cuda/error.h"
#include "cuda/nccl/error.h"
#include "runtime/mpi/mpi_runtime.h"

namespace {

using namespace trigram;
using Clock = std::chrono::steady_clock;

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// A communicator as a program without this project would make it.
class Bare {
 public:
  explicit Bare(const Context& ctx) {
    ncclUniqueId id{};
    if (ctx.world_rank == 0) cuda::check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    const std::string mine(reinterpret_cast<const char*>(&id), sizeof id);
    const std::string first = mpi_exchange(mine).front();
    std::memcpy(&id, first.data(), sizeof id);
    cuda::check(ncclCommInitRank(&comm_, ctx.world_size, id, ctx.world_rank), "ncclCommInitRank");
    cuda::check(cudaStreamCreateWithFlags(&queue_, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  void allreduce(const Tensor& x, int times) {
    for (int i = 0; i < times; ++i)
      cuda::check(ncclAllReduce(x.data(), x.data(), x.numel(), ncclFloat32, ncclSum, comm_, queue_),
                  "ncclAllReduce");
    cuda::check(cudaStreamSynchronize(queue_), "cudaStreamSynchronize");
  }

 private:
  ncclComm_t comm_ = nullptr;
  cudaStream_t queue_ = nullptr;
};

template <class Operation>
double seconds_of(const Operation& operation) {
  const auto begin = Clock::now();
  operation();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void compare(const Context& ctx) {
  constexpr int kRounds = 21, kWarmUp = 3, kInARow = 10;
  Bare bare(ctx);
  if (ctx.world_rank == 0)
    fmt::print("allreduce of f32, {} ranks, medians in microseconds\n{:>12} {:>12} {:>12} {:>8}\n",
               ctx.world_size, "bytes", "bare NCCL", "trigram", "ratio");
  for (std::size_t bytes = std::size_t{1} << 20; bytes <= std::size_t{1} << 28; bytes *= 4) {
    const Tensor x = ctx.device->empty(bytes / sizeof(float));
    ctx.device->fill(x, 0);
    ctx.stream->synchronize();
    std::vector<double> theirs, ours;
    for (int round = -kWarmUp; round < kRounds; ++round) {
      const double bare_s = seconds_of([&] { bare.allreduce(x, kInARow); });
      const double our_s = seconds_of([&] {
        for (int i = 0; i < kInARow; ++i) ctx.comm->native({Collective::allreduce, x});
        ctx.stream->synchronize();
      });
      if (round < 0) continue;
      theirs.push_back(bare_s / kInARow);
      ours.push_back(our_s / kInARow);
    }
    const double bare_s = median(theirs), our_s = median(ours);
    if (ctx.world_rank == 0)
      fmt::print("{:>12} {:>12.1f} {:>12.1f} {:>8.3f}\n", bytes, 1e6 * bare_s, 1e6 * our_s,
                 bare_s / our_s);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CudaOptions options{.memory_bytes = double{1 << 30}, .checked = false};
  if (argc > 1) options.ranks_per_gpu = std::atoi(argv[1]);
  if (const std::string reason = cuda_unavailable_reason(); !reason.empty()) {
    fmt::print(stderr, "skipped: {}\n", reason);
    return 77;
  }
  make_mpi_runtime({}, [options](Bootstrap& bootstrap, Waiter& waiter) {
    return make_cuda_accelerator(options, bootstrap, waiter);
  })->launch(Layout(1, mpi_process().size), compare);
}
