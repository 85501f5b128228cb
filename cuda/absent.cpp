#include <stdexcept>

#include "cuda/cuda_accelerator.h"

namespace trigram {

std::string cuda_absent_reason() {
  return "this build has no CUDA; install NVIDIA's CUDA toolkit 12 or newer and NCCL 2.18 or "
         "newer, and configure again";
}

std::string cuda_unavailable_reason() { return cuda_absent_reason(); }

std::unique_ptr<AcceleratorBackend> make_cuda_accelerator(const CudaOptions&, Bootstrap&, Waiter&) {
  throw std::runtime_error(cuda_unavailable_reason());
}

}  // namespace trigram
