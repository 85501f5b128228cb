// Compares allreduce through a Communicator with a bare loop over ncclAllReduce on the same ranks.
// Usage: mpirun -n RANKS bench_nccl RANKS_PER_GPU [--small]. Prints medians, measured in turns
// within one run, and their ratios, with and without the world's option "checked". The ratios
// should be at least 0.97 from 4 MiB on. --small uses few bytes, to check this program on emulated
// GPUs.

#include <cuda_runtime.h>
#include <fmt/format.h>
#include <nccl.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/context.h"
#include "cuda/cuda_accelerator.h"
#include "cuda/nccl/error.h"
#include "cuda/support/error.h"
#include "runtime/mpi/mpi_runtime.h"
#include "tests/bench/cuda/figure_table.h"
#include "tests/bench/median.h"

namespace {

using namespace trigram;
using Clock = std::chrono::steady_clock;

/// An NCCL communicator, created as in a program without this project.
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
  ~Bare() {
    cudaStreamDestroy(queue_);
    ncclCommDestroy(comm_);
  }
  Bare(const Bare&) = delete;
  Bare& operator=(const Bare&) = delete;
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

/// The number of measurements. There are fewer for the longest vectors, which take long over the
/// loopback interface if ranks share a GPU.
struct Repetitions {
  int rounds, in_a_row;
};
Repetitions repetitions(std::size_t bytes) {
  constexpr std::size_t kLong = std::size_t{64} << 20;
  return bytes < kLong ? Repetitions{21, 10} : Repetitions{7, 2};
}

struct Medians {
  double bare_s, our_s;
};

Medians measure(const Context& ctx, Bare& bare, std::size_t bytes) {
  constexpr int kWarmUp = 2;
  const auto [rounds, in_a_row] = repetitions(bytes);
  const Tensor x = ctx.device->empty(bytes / sizeof(float));
  ctx.device->fill(x, 0);
  ctx.stream->synchronize();
  std::vector<double> theirs, ours;
  for (int round = -kWarmUp; round < rounds; ++round) {
    const double bare_s = seconds_of([&] { bare.allreduce(x, in_a_row); });
    const double our_s = seconds_of([&] {
      for (int i = 0; i < in_a_row; ++i) ctx.comm->native({Collective::allreduce, x});
      ctx.stream->synchronize();
    });
    if (round < 0) continue;
    theirs.push_back(bare_s / in_a_row);
    ours.push_back(our_s / in_a_row);
  }
  return {test::median(theirs), test::median(ours)};
}

void compare(const Context& ctx, bool checked, std::size_t max_bytes) {
  constexpr std::size_t kMiB = std::size_t{1} << 20, kTargetFrom = 4 * kMiB;
  constexpr double kTarget = 0.97;
  Bare bare(ctx);
  for (std::size_t bytes = kMiB; bytes <= max_bytes; bytes *= 4) {
    const auto [bare_s, our_s] = measure(ctx, bare, bytes);
    if (ctx.world_rank == 0)
      test::print_figure(
          fmt::format("allreduce of {} MiB, {}", bytes / kMiB, checked ? "checked" : "unchecked"),
          our_s, bare_s / our_s, bytes < kTargetFrom ? 0 : kTarget);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CudaOptions options{.memory_bytes = double{1 << 30}};
  if (argc > 1) options.ranks_per_gpu = std::atoi(argv[1]);
  const bool small = argc > 2 && std::string(argv[2]) == "--small";
  const std::size_t max_bytes = std::size_t{1} << (small ? 20 : 28);
  if (const std::string reason = cuda_unavailable_reason(); !reason.empty()) {
    fmt::print(stderr, "skipped: {}\n", reason);
    return 77;
  }
  if (mpi_process().rank == 0) {
    fmt::print("allreduce of f32, {} ranks, to a bare loop over ncclAllReduce\n",
               mpi_process().size);
    test::print_figure_header();
  }
  for (const bool checked : {true, false}) {
    options.checked = checked;
    make_mpi_runtime({}, [options](Bootstrap& bootstrap, Waiter& waiter) {
      return make_cuda_accelerator(options, bootstrap, waiter);
    })->launch(Layout(1, mpi_process().size), [&](const Context& ctx) {
      compare(ctx, checked, max_bytes);
    });
  }
}
