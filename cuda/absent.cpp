#include <stdexcept>

#include "cuda/cuda_accelerator.h"

namespace trigram {

std::string cuda_unavailable_reason() {
  return "this build has no CUDA; install NVIDIA's CUDA toolkit 12 or newer and NCCL 2.18 or "
         "newer, "
         "and configure again";
}

std::unique_ptr<AcceleratorBackend> make_cuda_accelerator(const CudaOptions&, Bootstrap&, Waiter&) {
  throw std::runtime_error(cuda_unavailable_reason());
}

}  // namespace trigram
