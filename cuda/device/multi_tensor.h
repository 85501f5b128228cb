#pragma once

#include <span>

#include "cuda/device/cuda_device.h"
#include "cuda/kernels/optimizers.h"

namespace trigram {

/// Steps of an optimizer over many tensors in one launch, on the stream of `device`, which outlives
/// this. Weights and moments equal those of one call of Device::sgd or adam per tensor.
class MultiTensor {
 public:
  /// All f32 and of one length; SGD without momentum needs no m, and SGD no v: Tensor{}.
  struct Operands {
    Tensor w, g, m, v;
  };

  /// Tells the GPU where the tensors lie, which this keeps.
  MultiTensor(CudaDevice& device, std::span<const Operands> tensors);

  void sgd(const SgdStep& step) const;
  void adam(const AdamStep& step) const;

 private:
  CudaDevice& device_;
  std::vector<Operands> tensors_;
  Tensor table_;
  cuda::Pieces pieces_;
  bool all_have_m_ = true, all_have_v_ = true;
};

}  // namespace trigram
