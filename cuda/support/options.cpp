#include "cuda/support/options.h"

namespace trigram {

FieldTable<CudaOptions> cuda_fields() {
  return FieldTable<CudaOptions>{}
      .field(
          "ranks_per_gpu", &CudaOptions::ranks_per_gpu, integer(1, 64),
          "How many ranks share a GPU. More than one is for tests: NCCL does not support it, and "
          "the ranks take turns")
      .field("memory", &CudaOptions::memory_bytes, quantity(Dimension::bytes),
             "GPU memory that each rank takes at start-up and lives on; 0: nine tenths, or all but "
             "3 GiB, of what is "
             "free, shared by the ranks of the GPU")
      .field(
          "checked", &CudaOptions::checked, boolean(),
          "Whether both sides of every message first say on the control plane what it is, so that "
          "what does not match is an error that names both ranks; costs two control messages")
      .field(
          "run_ahead", &CudaOptions::run_ahead, integer(1, 1024),
          "Batches of messages of one stream that may be on their way while its control flow goes "
          "on");
}

}  // namespace trigram
