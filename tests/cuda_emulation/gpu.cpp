// The functions that query the GPU.

#include "tests/cuda_emulation/gpu.h"

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/cuda_emulation/status.h"

using cuda_emulation::remember;

namespace {

thread_local int current_device = 0;

int environment_number(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

// The number of emulated GPUs. All share one memory.
int device_count() { return environment_number("TRIGRAM_EMULATED_GPUS", 1); }

// The index of a visible GPU among all GPUs of the machine.
int number_on_machine(int device) {
  return environment_number("TRIGRAM_EMULATED_FIRST_GPU", 0) + device;
}

bool exists(int device) { return device >= 0 && device < device_count(); }

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) {
  *count = device_count();
  return remember(*count > 0 ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaSetDevice(int device) {
  if (!exists(device)) return remember(cudaErrorInvalidDevice);
  current_device = device;
  return remember(cudaSuccess);
}

cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return remember(cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!exists(device)) return remember(cudaErrorInvalidDevice);
  *properties = {};
  std::strcpy(properties->name, "emulated GPU");
  std::snprintf(properties->uuid.bytes, sizeof properties->uuid.bytes, "GPU-%d",
                number_on_machine(device));
  properties->multiProcessorCount = cuda_emulation::kMultiprocessors;
  properties->l2CacheSize = cuda_emulation::kL2Bytes;
  return remember(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (!exists(device)) return remember(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount: *value = cuda_emulation::kMultiprocessors; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = cuda_emulation::kSharedPerBlockOptin;
      break;
    case cudaDevAttrClusterLaunch: *value = 1; break;
  }
  return remember(cudaSuccess);
}
