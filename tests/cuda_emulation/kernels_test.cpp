// Guarantees of the CUDA emulation about the threads of a kernel.

#include <cooperative_groups.h>
#include <cuda_pipeline_primitives.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <numeric>

#include "cuda/kernels/cluster.h"
#include "cuda/kernels/codecs/minmax_uint8.h"
#include "cuda/support/launch.h"
#include "tests/cuda/device_buffer.h"

namespace trigram::kernels_test {
namespace {

namespace cg = cooperative_groups;
using testing::HasSubstr;

constexpr unsigned kFullWarp = 0xFFFFFFFF;

/// Runs a kernel; returns its error, or an empty string.
template <class... Parameters, class... Arguments>
std::string error_of(const cuda::Launch& shape, void (*kernel)(Parameters...),
                     Arguments... arguments) {
  const OwnStream stream;
  cuda::launch(stream, shape, kernel, arguments...);
  std::string text;
  if (const cudaError_t error = cudaStreamSynchronize(stream)) text = cudaGetErrorString(error);
  cudaDeviceReset();
  return text;
}

// Every block reverses its part of x through static shared memory. A second kernel does the same
// through dynamic shared memory.
__global__ void reverse_static(int* x) {
  __shared__ int part[100];
  int* const own = x + blockIdx.x * 100;
  part[threadIdx.x] = own[threadIdx.x];
  __syncthreads();
  own[threadIdx.x] = part[99 - threadIdx.x];
}

__global__ void reverse_dynamic(int* x) {
  int* const part = cuda::dynamic_shared<int>();
  int* const own = x + blockIdx.x * blockDim.x;
  part[threadIdx.x] = own[threadIdx.x];
  __syncthreads();
  own[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}

__global__ void reverse_without_barrier(int* x) {
  int* const part = cuda::dynamic_shared<int>();
  part[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}

/// Counts how many of three copies into shared memory are complete after a wait for all groups
/// except the last `unfinished`. The third copy belongs to no group.
__global__ void count_copies(int* x, int unfinished) {
  int* const part = cuda::dynamic_shared<int>();
  for (int i = 0; i < 3; ++i) {
    part[i] = -1;
    __pipeline_memcpy_async(part + i, x + i, sizeof(int));
    if (i < 2) __pipeline_commit();
  }
  __pipeline_wait_prior(static_cast<std::size_t>(unfinished));
  int count = 0;
  for (int i = 0; i < 3; ++i) count += part[i] == x[i];
  x[3] = count;
}

std::vector<int> integers_below(int n) {
  std::vector<int> x(static_cast<std::size_t>(n));
  std::iota(x.begin(), x.end(), 0);
  return x;
}

TEST(EmulatedBlocks, WaitAtTheirBarrier) {
  const DeviceBuffer<int> a(integers_below(300)), b(integers_below(300)), c(integers_below(300));
  EXPECT_EQ("", error_of({.grid = 3, .block = 100}, reverse_static, a.data()));
  EXPECT_EQ("",
            error_of({.grid = 3, .block = 100, .shared_bytes = 400}, reverse_dynamic, b.data()));
  std::vector<int> expected = integers_below(300);
  for (int block = 0; block < 3; ++block) {
    std::reverse(expected.begin() + block * 100, expected.begin() + block * 100 + 100);
  }
  EXPECT_EQ(expected, a.values());
  EXPECT_EQ(expected, b.values());
  EXPECT_EQ("", error_of({.block = 100, .shared_bytes = 400}, reverse_without_barrier, c.data()));
  std::vector<int> reversed_block = integers_below(300);
  std::reverse(reversed_block.begin(), reversed_block.begin() + 100);
  EXPECT_NE(reversed_block, c.values());
}

TEST(EmulatedBlocks, AsynchronousCopiesCompleteOnlyWhenWaitedFor) {
  for (const int unfinished : {0, 1, 2}) {
    DeviceBuffer<int> x(std::vector<int>{5, 6, 7, 0});
    EXPECT_EQ("", error_of({.block = 1, .shared_bytes = 12}, count_copies, x.data(), unfinished));
    EXPECT_EQ(2 - unfinished, x.values()[3]) << "the third copy belongs to no group";
  }
}

__global__ void barrier_for_half() {
  if (threadIdx.x < blockDim.x / 2) __syncthreads();
}
__global__ void two_barriers() {
  if (threadIdx.x % 2) __syncthreads();
  else __syncthreads();
}
__global__ void ends_before_a_barrier() {
  if (threadIdx.x == 5) return;
  __syncthreads();
}

TEST(EmulatedBlocks, DivergentBarriersAreErrors) {
  for (int turn = 0; turn < 2; ++turn) {  // runs the threads in both orders
    EXPECT_NE("", error_of({.block = 64}, barrier_for_half));
    EXPECT_THAT(error_of({.block = 64}, two_barriers), HasSubstr("another barrier"));
    EXPECT_THAT(error_of({.block = 64}, ends_before_a_barrier),
                HasSubstr("cuda_emulation/kernels_test.cpp"));
  }
}

TEST(EmulatedBlocks, AFailedKernelFailsLaterCalls) {
  const OwnStream stream;
  cuda::launch(stream, {.block = 64}, barrier_for_half);
  EXPECT_EQ(cudaErrorLaunchFailure, cudaStreamSynchronize(stream));
  EXPECT_THROW(cuda::launch(stream, {}, barrier_for_half), CudaError);
  EXPECT_EQ(cudaSuccess, cudaDeviceReset());
}

__global__ void combine_predicates(int* results) {
  const int all = __syncthreads_and(threadIdx.x < 100), most = __syncthreads_and(threadIdx.x != 7);
  if (threadIdx.x == 0) {
    results[0] = all;
    results[1] = most;
  }
}

TEST(EmulatedBlocks, CombinePredicatesAtTheirBarrier) {
  const DeviceBuffer<int> results(2);
  EXPECT_EQ("", error_of({.block = 100}, combine_predicates, results.data()));
  EXPECT_EQ((std::vector<int>{1, 0}), results.values());
}

__global__ void shuffles(int* x) {
  const int own = static_cast<int>(threadIdx.x) * 10, i = static_cast<int>(threadIdx.x);
  x[i] = __shfl_xor_sync(kFullWarp, own, 1);
  x[64 + i] = __shfl_down_sync(kFullWarp, own, 3);
  x[128 + i] = __shfl_up_sync(kFullWarp, own, 1, 8);
  x[192 + i] = __shfl_sync(kFullWarp, own, 5);
  x[256 + i] = static_cast<int>(__ballot_sync(kFullWarp, i % 4 == 0));
}

TEST(EmulatedWarps, ShuffleAndBallot) {
  const DeviceBuffer<int> x(320);
  EXPECT_EQ("", error_of({.block = 64}, shuffles, x.data()));
  const std::vector<int> values = x.values();
  for (int i = 0; i < 64; ++i) {
    const auto at = [&](int row) { return values[static_cast<std::size_t>(row * 64 + i)]; };
    EXPECT_EQ(10 * (i ^ 1), at(0));
    EXPECT_EQ(10 * (i % 32 + 3 < 32 ? i + 3 : i), at(1));
    EXPECT_EQ(10 * (i % 8 == 0 ? i : i - 1), at(2));
    EXPECT_EQ(10 * (i / 32 * 32 + 5), at(3));
    EXPECT_EQ(0x11111111, at(4));
  }
}

__global__ void shuffle_of_half() {
  if (threadIdx.x < 16) __shfl_xor_sync(kFullWarp, 1, 1);
}
__global__ void shuffle_within_half(int* x) {
  if (threadIdx.x < 16) x[threadIdx.x] = __shfl_xor_sync(0xFFFF, static_cast<int>(threadIdx.x), 1);
}
__global__ void shuffle_beside_ballot() {
  if (threadIdx.x % 2) __shfl_xor_sync(kFullWarp, 1, 1);
  else __ballot_sync(kFullWarp, 1);
}

TEST(EmulatedWarps, DivergentOperationsAreErrors) {
  const DeviceBuffer<int> x(16);
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_NE("", error_of({.block = 32}, shuffle_of_half));
    EXPECT_NE("", error_of({.block = 32}, shuffle_beside_ballot));
    EXPECT_THAT(error_of({.block = 16}, shuffles, x.data()), HasSubstr("does not exist"));
  }
  EXPECT_EQ("", error_of({.block = 32}, shuffle_within_half, x.data()));
  EXPECT_EQ(7, x.values()[6]);
}

// Every block adds up the values of all blocks of its cluster.
__global__ void sum_of_cluster(int* sums) {
  int* const own = cuda::dynamic_shared<int>();
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) *own = static_cast<int>(blockIdx.x);
  cluster.sync();
  int sum = 0;
  for (unsigned i = 0; i < cluster.num_blocks(); ++i) sum += *cluster.map_shared_rank(own, i);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum * 10 + static_cast<int>(cluster.block_rank());
  cluster.sync();
}

__global__ void reads_an_ended_block(int* sums) {
  int* const own = cuda::dynamic_shared<int>();
  const auto cluster = cg::this_cluster();
  *own = 1;
  cluster.sync();
  sums[blockIdx.x] = *cluster.map_shared_rank(own, 1 - cluster.block_rank());
}

TEST(EmulatedClusters, SeeEachOthersSharedMemory) {
  const DeviceBuffer<int> sums(8);
  EXPECT_EQ("", error_of({.grid = 8, .block = 33, .shared_bytes = 4, .cluster = 4}, sum_of_cluster,
                         sums.data()));
  EXPECT_EQ((std::vector<int>{60, 61, 62, 63, 220, 221, 222, 223}), sums.values());
  EXPECT_THAT(error_of({.grid = 2, .block = 1, .shared_bytes = 4, .cluster = 2},
                       reads_an_ended_block, sums.data()),
              HasSubstr("has ended"));
}

// A hand-written barrier of a cluster: blocks wait in a loop until all blocks have arrived.
__global__ void synchronize_in_a_loop(unsigned* arrived, int* x, int* y) {
  const unsigned i = blockIdx.x;
  x[i] = static_cast<int>(i);
  __threadfence();
  atomicAdd(arrived, 1u);
  while (atomicAdd(arrived, 0u) < gridDim.x) __nanosleep(20);
  y[i] = x[(i + 1) % gridDim.x];
}

__global__ void wait_for_ever(unsigned* arrived) {
  while (atomicAdd(arrived, 0u) == 0) __nanosleep(20);
}

TEST(EmulatedClusters, BlocksCanWaitForEachOtherInALoop) {
  const DeviceBuffer<unsigned> arrived(std::vector<unsigned>{0});
  const DeviceBuffer<int> x(4), y(4);
  EXPECT_EQ("", error_of({.grid = 4, .block = 1, .cluster = 4}, synchronize_in_a_loop,
                         arrived.data(), x.data(), y.data()));
  EXPECT_EQ((std::vector<int>{1, 2, 3, 0}), y.values());
}

TEST(EmulatedClusters, AnEndlessWaitIsAnError) {
  const DeviceBuffer<unsigned> arrived(std::vector<unsigned>{0});
  EXPECT_THAT(error_of({.block = 1}, wait_for_ever, arrived.data()), HasSubstr("never comes"));
}

TEST(Kernels, ClustersNeedCodeForHopper) {
  using cuda::minmax_uint8::resident_clusters;
  EXPECT_GT(resident_clusters(8), 0u);
  setenv("TRIGRAM_EMULATED_PTX", "80", 1);
  EXPECT_EQ(resident_clusters(8), 0u);
  EXPECT_EQ(resident_clusters(2), 0u);
  EXPECT_GT(resident_clusters(1), 0u);
  unsetenv("TRIGRAM_EMULATED_PTX");
}

}  // namespace
}  // namespace trigram::kernels_test
