#include "cuda/support/launch.h"

#include <fmt/format.h>

namespace trigram::cuda {

std::string describe(const Launch& shape) {
  return fmt::format(
      "{}x{}x{} blocks of {}x{}x{} threads, {} bytes of shared memory, cluster of {}", shape.grid.x,
      shape.grid.y, shape.grid.z, shape.block.x, shape.block.y, shape.block.z, shape.shared_bytes,
      shape.cluster);
}

int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
  return value;
}

unsigned multiprocessors() {
  static const auto count = static_cast<unsigned>(device_attribute(cudaDevAttrMultiProcessorCount));
  return count;
}

}  // namespace trigram::cuda
