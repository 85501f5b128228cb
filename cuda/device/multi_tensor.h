#pragma once

#include <span>
#include <vector>

#include "cuda/device/cuda_device.h"
#include "cuda/kernels/optimizers.h"

namespace trigram {

/// Optimizer steps over many tensors in one launch, on the stream of `device`, which must outlive
/// this object. The results equal those of one call of Device::update per tensor.
class MultiTensor {
 public:
  /// Tensors of f32 and of equal length.
  struct Operands {
    Tensor w, g;
    std::vector<Tensor> states;  // the same number for all tensors, and at most kMostStates
  };

  /// Uploads the addresses of the tensors, and keeps the tensors alive.
  MultiTensor(CudaDevice& device, std::span<const Operands> tensors);

  /// The rule may have fewer states than the tensors; it uses the first ones.
  void update(const UpdateRule& rule) const;

 private:
  CudaDevice& device_;
  std::vector<Operands> tensors_;
  Tensor table_;
  cuda::Pieces pieces_;
  std::size_t states_ = 0;  // of each tensor
};

}  // namespace trigram
