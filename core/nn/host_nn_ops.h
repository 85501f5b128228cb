#pragma once

#include "core/nn_ops.h"

namespace trigram {

/// Neural-network operations on host memory. Every sum has a fixed order and nothing uses libm, so
/// the bits are the same on every machine. Stateless; any thread may call it. Tensors must be f32
/// (labels u8), have values, and hold at least as many elements as the dimensions require
/// (InvariantError otherwise).
class HostNnOps final : public NnOps {
 public:
  void gemm(const Gemm& shape, const Tensor& a, const Tensor& b, float beta,
            const Tensor& c) override;
  void orthonormalise(std::size_t count, std::size_t length, const Tensor& x) override;
  void bias(std::size_t rows, std::size_t cols, const Tensor& x, const Tensor& bias) override;
  void bias_grad(std::size_t rows, std::size_t cols, const Tensor& dx,
                 const Tensor& dbias) override;
  void relu(const Tensor& x) override;
  void relu_grad(const Tensor& y, const Tensor& dx) override;
  void im2col(const Window& window, const Tensor& images, const Tensor& columns) override;
  void col2im(const Window& window, const Tensor& columns, const Tensor& images) override;
  void max_pool(const Window& window, const Tensor& x, const Tensor& y,
                const Tensor& argmax) override;
  void max_pool_grad(const Window& window, const Tensor& dy, const Tensor& argmax,
                     const Tensor& dx) override;
  void softmax_xent(std::size_t rows, std::size_t classes, const Tensor& logits,
                    const Tensor& labels, const Tensor& dlogits, const Tensor& loss) override;
};

/// c = op(a) * op(b) + beta * c on plain row-major arrays, with Eigen on one thread. The same
/// binary adds in the same order on every machine.
void gemm(const Gemm& shape, const float* a, const float* b, float beta, float* c);

}  // namespace trigram
