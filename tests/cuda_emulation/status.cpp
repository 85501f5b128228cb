#include "tests/cuda_emulation/status.h"

#include <mutex>
#include <utility>

#include "tests/cuda_emulation/queue.h"

namespace cuda_emulation {
namespace {
thread_local cudaError_t last_error = cudaSuccess;
std::size_t count_of_operations = 0;  // guarded by queues().mutex

struct Text {
  cudaError_t error;
  const char* name;
  const char* text;
};
constexpr Text kTexts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
};

const Text& text_of(cudaError_t error) {
  static constexpr Text kUnknown{cudaSuccess, "cudaErrorUnknown", "unknown error"};
  for (const Text& text : kTexts) {
    if (text.error == error) return text;
  }
  return kUnknown;
}

}  // namespace

cudaError_t remember(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

cudaError_t kernel_status() {
  const std::lock_guard lock(queues().mutex);
  return queues().kernel_error.empty() ? cudaSuccess : cudaErrorLaunchFailure;
}

std::size_t operations_run() { return count_of_operations; }
void count_operation() { ++count_of_operations; }

}  // namespace cuda_emulation

const char* cudaGetErrorName(cudaError_t error) { return cuda_emulation::text_of(error).name; }

const char* cudaGetErrorString(cudaError_t error) {
  const std::lock_guard lock(cuda_emulation::queues().mutex);
  const auto& failure = cuda_emulation::queues().kernel_error;
  // The emulation knows which mistake the kernel has made.
  if (error == cudaErrorLaunchFailure && !failure.empty()) return failure.c_str();
  return cuda_emulation::text_of(error).text;
}

cudaError_t cudaGetLastError() { return std::exchange(cuda_emulation::last_error, cudaSuccess); }
