#include "cuda/support/launch.h"

#include <fmt/format.h>

namespace trigram::cuda {

std::string describe(const Launch& shape) {
  return fmt::format(
      "{}x{}x{} blocks of {}x{}x{} threads, {} bytes of shared memory, cluster of {}{}",
      shape.grid.x, shape.grid.y, shape.grid.z, shape.block.x, shape.block.y, shape.block.z,
      shape.shared_bytes, shape.cluster, shape.cooperative ? ", cooperative" : "");
}

}  // namespace trigram::cuda
