#pragma once

#include "core/cost.h"
#include "core/nn_ops.h"

namespace trigram {

/// Runs the operations of `inner` and charges each to `costs` by its flops and the bytes of its
/// operands, in priced elements. An operation whose result has no priced elements costs nothing.
class TimedNnOps final : public NnOps {
 public:
  TimedNnOps(NnOps& inner, CostSink& costs) : inner_(inner), costs_(costs) {}

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

 private:
  /// Charges an operation that moves `elements` f32 values in total and produces `result`.
  void charge(const Tensor& result, double elements, double flops);

  NnOps& inner_;
  CostSink& costs_;
};

}  // namespace trigram
