#pragma once

#include <span>

#include "cuda/device/cuda_device.h"
#include "cuda/kernels/optimizers.h"

namespace trigram {

/// Optimizer steps over many tensors in one launch, on the stream of `device`, which must outlive
/// this object. The results equal those of one call of Device::sgd or Device::adam per tensor.
class MultiTensor {
 public:
  /// Tensors of f32 and of equal length. Pass Tensor{} for v with SGD, and for m with SGD without
  /// momentum.
  struct Operands {
    Tensor w, g, m, v;
  };

  /// Uploads the addresses of the tensors, and keeps the tensors alive.
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
