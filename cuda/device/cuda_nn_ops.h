#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include "core/nn_ops.h"

namespace trigram {

/// The operations of neural networks on a GPU, queued on one stream: products by cuBLAS in f32
/// throughout, the others by kernels. The same bits in every run on the same kind of GPU; those of
/// HostNnOps where nothing but single sums and choices is made (relu, bias, windows). Tensors must
/// be f32 (labels u8), have values and hold at least what the dimensions say (InvariantError
/// otherwise). A label that is no class makes the loss NaN.
class CudaNnOps final : public NnOps {
 public:
  /// cuBLAS takes no other memory than `workspace`, once this is made.
  CudaNnOps(cudaStream_t stream, Tensor workspace);
  ~CudaNnOps() override;
  CudaNnOps(const CudaNnOps&) = delete;
  CudaNnOps& operator=(const CudaNnOps&) = delete;

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
  const cudaStream_t stream_;
  const Tensor workspace_;
  cublasHandle_t blas_ = nullptr;
};

}  // namespace trigram
