// Guarantees of the CUDA emulation about streams, events and memory.

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "cuda/support/launch.h"
#include "tests/cuda/device_buffer.h"
#include "tests/cuda_emulation/queue.h"

namespace trigram::streams_test {
namespace {

__global__ void set(int* x, int value) { *x = value; }
__global__ void add_one(const int* from, int* to) { *to = *from + 1; }

TEST(EmulatedStreams, RunNothingBeforeTheHostWaits) {
  const OwnStream stream;
  int done = 0;
  cuda_emulation::enqueue(stream, [&done] { return ++done > 0; });
  EXPECT_EQ(0, done);
  EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(stream));
  EXPECT_EQ(1, done);
}

TEST(EmulatedStreams, AQueryRunsOneOperation) {
  const OwnStream stream;
  int done = 0;
  for (int i = 0; i < 2; ++i) cuda_emulation::enqueue(stream, [&done] { return ++done > 0; });
  EXPECT_EQ(cudaErrorNotReady, cudaStreamQuery(stream));
  EXPECT_EQ(1, done);
  EXPECT_EQ(cudaSuccess, cudaStreamQuery(stream));
}

// The value that a kernel on `second` reads after a kernel on `first` was launched to write it. If
// `ordered` is true, the second stream waits for an event of the first.
int read_across_streams(bool ordered) {
  const OwnStream first, second;
  const DeviceBuffer<int> x(std::vector<int>{10}), y(std::vector<int>{0});
  cudaEvent_t written = nullptr;
  cuda::check(cudaEventCreate(&written), "cudaEventCreate");
  cuda::launch(first, {.block = 1}, set, x.data(), 20);
  cuda::check(cudaEventRecord(written, first), "cudaEventRecord");
  if (ordered) cuda::check(cudaStreamWaitEvent(second, written), "cudaStreamWaitEvent");
  cuda::launch(second, {.block = 1}, add_one, x.data(), y.data());
  cudaStreamSynchronize(second);
  const int read = y.values()[0];
  cudaEventDestroy(written);
  return read;
}

TEST(EmulatedStreams, AMissingEventIsNoticed) {
  EXPECT_EQ(21, read_across_streams(true));
  EXPECT_EQ(11, read_across_streams(false));
}

TEST(EmulatedStreams, AnEventCoversTheWorkIssuedBeforeIt) {
  const OwnStream stream;
  int done = 0;
  cudaEvent_t event = nullptr;
  cudaEventCreate(&event);
  EXPECT_EQ(cudaSuccess, cudaEventQuery(event)) << "never recorded";
  cuda_emulation::enqueue(stream, [&done] { return ++done > 0; });
  cudaEventRecord(event, stream);
  cuda_emulation::enqueue(stream, [&done] { return ++done > 0; });
  EXPECT_EQ(cudaSuccess, cudaEventSynchronize(event));
  EXPECT_EQ(1, done);
  cudaEventDestroy(event);
}

TEST(EmulatedStreams, AWaitMakesOtherStreamsProgress) {
  const OwnStream first, second;
  bool arrived = false;
  cuda_emulation::enqueue(first, [&arrived] { return arrived; });
  cuda_emulation::enqueue(second, [&arrived] { return arrived = true; });
  EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(first));
}

TEST(EmulatedMemory, HostAccessToGuardedMemoryCrashes) {
  setenv("TRIGRAM_EMULATED_GUARD", "1", 1);
  const DeviceBuffer<int> x(std::vector<int>{1});
  EXPECT_DEATH({ *x.data() = 2; }, "");
  EXPECT_EQ(1, x.values()[0]);
}

TEST(EmulatedMemory, FreshMemoryHoldsNan) {
  float* x = nullptr;
  float value = 0;
  ASSERT_EQ(cudaSuccess, cudaMalloc(&x, 4));
  ASSERT_EQ(cudaSuccess, cudaMemcpy(&value, x, 4, cudaMemcpyDeviceToHost));
  EXPECT_NE(value, value);
  EXPECT_EQ(cudaSuccess, cudaFree(x));
  EXPECT_EQ(cudaErrorInvalidValue, cudaFree(x));
  EXPECT_EQ(cudaErrorInvalidValue, cudaGetLastError());
  EXPECT_EQ(cudaErrorMemoryAllocation, cudaMalloc(&x, std::size_t{1} << 40));
  EXPECT_EQ(cudaErrorMemoryAllocation, cudaGetLastError());
}

TEST(EmulatedLaunches, RejectShapesThatAGpuRejects) {
  const OwnStream stream;
  int* const x = nullptr;
  EXPECT_THROW(cuda::launch(stream, {.block = 1025}, set, x, 0), CudaError);
  EXPECT_THROW(cuda::launch(stream, {.grid = 0}, set, x, 0), CudaError);
  EXPECT_THROW(cuda::launch(stream, {.grid = 6, .cluster = 4}, set, x, 0), CudaError);
  EXPECT_THROW(cuda::launch(stream, {.grid = 16, .cluster = 16}, set, x, 0), CudaError);
  EXPECT_THROW(cuda::launch(stream, {.shared_bytes = 50 << 10}, set, x, 0), CudaError);
  try {
    cuda::launch(stream, {.grid = 3, .block = 2000}, set, x, 0);
  } catch (const CudaError& error) {
    EXPECT_STREQ(
        "launch of a kernel as 3x1x1 blocks of 2000x1x1 threads, 0 bytes of shared memory, cluster "
        "of 1: invalid configuration argument (cudaErrorInvalidConfiguration)",
        error.what());
  }
}

}  // namespace
}  // namespace trigram::streams_test
