#pragma once

#include "core/nn_ops.h"

namespace trigram {

/// Neural-network operations on phantoms; they do nothing.
class NullNnOps final : public NnOps {
 public:
  void gemm(const Gemm&, const Tensor&, const Tensor&, float, const Tensor&) override {}
  void orthonormalise(std::size_t, std::size_t, const Tensor&) override {}
  void bias(std::size_t, std::size_t, const Tensor&, const Tensor&) override {}
  void bias_grad(std::size_t, std::size_t, const Tensor&, const Tensor&) override {}
  void relu(const Tensor&) override {}
  void relu_grad(const Tensor&, const Tensor&) override {}
  void im2col(const Window&, const Tensor&, const Tensor&) override {}
  void col2im(const Window&, const Tensor&, const Tensor&) override {}
  void max_pool(const Window&, const Tensor&, const Tensor&, const Tensor&) override {}
  void max_pool_grad(const Window&, const Tensor&, const Tensor&, const Tensor&) override {}
  void softmax_xent(std::size_t, std::size_t, const Tensor&, const Tensor&, const Tensor&,
                    const Tensor&) override {}
};

}  // namespace trigram
