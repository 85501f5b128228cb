#include "cuda/support/options.h"

namespace trigram {

FieldTable<CudaOptions> cuda_fields() {
  return FieldTable<CudaOptions>{}
      .field("ranks_per_gpu", &CudaOptions::ranks_per_gpu, integer(1, 64),
             "Number of ranks that share a GPU. More than one is for tests: NCCL does not support "
             "it, so the ranks take turns")
      .field(
          "memory", &CudaOptions::memory_bytes, quantity(Dimension::bytes),
          "GPU memory that each rank reserves at start-up for all of its tensors; 0: nine tenths "
          "of the free memory, or all but 3 GiB of it, divided among the ranks of the GPU")
      .field("checked", &CudaOptions::checked, boolean(),
             "Check that both sides of every message agree on it, so that a mismatch is an error "
             "that names both ranks; costs two control messages per message")
      .field("run_ahead", &CudaOptions::run_ahead, integer(1, 1024),
             "Number of message batches of a stream that may be in flight while its control flow "
             "continues");
}

}  // namespace trigram
