#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include "core/nn_ops.h"

namespace trigram {

/// Neural-network operations on a GPU, queued on one stream. Matrix products use cuBLAS in f32
/// throughout; the other operations are kernels of this project. Results are bit-identical in every
/// run on the same kind of GPU. Operations other than sums over many values and products (relu,
/// bias, windows, and those of language models except attention) give the same bits as
/// host_nn_ops(). Tensors must be f32 (labels u8), have values and hold at least as many elements
/// as the dimensions require (InvariantError otherwise). A label that is not a class makes the loss
/// NaN.
class CudaNnOps final : public NnOps {
 public:
  /// After construction, cuBLAS uses no memory except `workspace`.
  CudaNnOps(cudaStream_t stream, Tensor workspace);
  ~CudaNnOps() override;
  CudaNnOps(const CudaNnOps&) = delete;
  CudaNnOps& operator=(const CudaNnOps&) = delete;

  void gemm(const Gemm& shape, const Tensor& a, const Tensor& b, float beta,
            const Tensor& c) override;
  void orthonormalise(std::size_t count, std::size_t length, const Tensor& x,
                      Dependent dependent) override;
  void normalise(std::size_t count, std::size_t length, const Tensor& x) override;
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
  void add(const Tensor& x, const Tensor& y) override;
  void embedding(std::size_t rows, std::size_t cols, const Tensor& table, const Tensor& indices,
                 const Tensor& y) override;
  void embedding_grad(std::size_t rows, std::size_t cols, const Tensor& dy, const Tensor& indices,
                      float beta, const Tensor& dtable) override;
  void layer_norm(std::size_t rows, std::size_t cols, const Tensor& x, const Tensor& gain,
                  const Tensor& bias, const Tensor& normalised, const Tensor& scale,
                  const Tensor& y) override;
  void layer_norm_grad(std::size_t rows, std::size_t cols, const Tensor& gain, const Tensor& scale,
                       const Tensor& dy, const Tensor& normalised, const Tensor& dx) override;
  void gelu(const Tensor& x, const Tensor& y) override;
  void gelu_grad(const Tensor& x, const Tensor& dx) override;
  void attention(const Attention& shape, const Tensor& qkv, const Tensor& probabilities,
                 const Tensor& y) override;
  void attention_grad(const Attention& shape, const Tensor& qkv, const Tensor& probabilities,
                      const Tensor& dy, const Tensor& dprobabilities, const Tensor& dqkv) override;
  void gru(std::size_t rows, std::size_t cols, const Tensor& x, const Tensor& h,
           const Tensor& previous, const Tensor& gates, const Tensor& state) override;
  void gru_grad(std::size_t rows, std::size_t cols, const Tensor& gates, const Tensor& h,
                const Tensor& previous, const Tensor& dstate, const Tensor& dx, const Tensor& dh,
                const Tensor& dprevious) override;

 private:
  /// One matrix for each head, `stride` elements apart; their rows are `ld` elements apart.
  struct Heads {
    const float* data;
    std::size_t ld, stride;
  };
  /// c = op(a) * op(b) for each head.
  void multiply_heads(const Gemm& shape, std::size_t heads, const Heads& a, const Heads& b,
                      float* c, std::size_t ldc, std::size_t stride_c);

  const cudaStream_t stream_;
  const Tensor workspace_;
  cublasHandle_t blas_ = nullptr;
};

}  // namespace trigram
