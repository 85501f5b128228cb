#include "cuda/codecs/cuda_codec.h"

#include "cuda/support/error.h"

namespace trigram::cuda {

Tensor CudaCodec::zeroed_scratch(std::size_t nbytes) const {
  const Tensor room = scratch(nbytes);
  zero(room, nbytes);
  return room;
}

void CudaCodec::zero(const Tensor& room, std::size_t nbytes) const {
  check(cudaMemsetAsync(room.data(), 0, nbytes, stream()), "cudaMemsetAsync");
}

}  // namespace trigram::cuda
