#pragma once

#include <cstddef>

#include "core/tensor.h"

namespace trigram {

/// Shape of a batch of images in NCHW order and of a square window sliding over it.
struct Window {
  std::size_t batch = 0, channels = 0, height = 0, width = 0;
  std::size_t kernel = 1, stride = 1, padding = 0;
  std::size_t out_height() const { return (height + 2 * padding - kernel) / stride + 1; }
  std::size_t out_width() const { return (width + 2 * padding - kernel) / stride + 1; }
};

/// The shapes of row-major matrices in C[m,n] = op(A)[m,k] * op(B)[k,n]; op transposes if the flag
/// is set.
struct Gemm {
  std::size_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
};

/// Operations on matrices and of small neural networks, ordered on the device's stream. Dimensions
/// are explicit; tensors are row-major f32. The simulator prices each operation by its flops and
/// bytes.
class NnOps {
 public:
  virtual ~NnOps() = default;
  /// c = op(a) * op(b) + beta * c. If beta = 0, c is not read.
  virtual void gemm(const Gemm& shape, const Tensor& a, const Tensor& b, float beta,
                    const Tensor& c) = 0;
  /// Makes the `count` vectors x[count, length] orthonormal by modified Gram-Schmidt, in their
  /// order. A vector that depends linearly on earlier vectors becomes zero.
  virtual void orthonormalise(std::size_t count, std::size_t length, const Tensor& x) = 0;
  /// x[r, c] += bias[c].
  virtual void bias(std::size_t rows, std::size_t cols, const Tensor& x, const Tensor& bias) = 0;
  /// dbias[c] = sum over r of dx[r, c].
  virtual void bias_grad(std::size_t rows, std::size_t cols, const Tensor& dx,
                         const Tensor& dbias) = 0;
  /// x = max(x, 0).
  virtual void relu(const Tensor& x) = 0;
  /// dx = 0 where y (the output of relu) is 0.
  virtual void relu_grad(const Tensor& y, const Tensor& dx) = 0;
  /// columns[(b, oy, ox), (c, ky, kx)] = the padded image under the window at (oy, ox).
  virtual void im2col(const Window& window, const Tensor& images, const Tensor& columns) = 0;
  /// The transpose of im2col: each pixel of `images` is the sum of the column elements that cover
  /// it.
  virtual void col2im(const Window& window, const Tensor& columns, const Tensor& images) = 0;
  /// y[b, c, oy, ox] = the maximum under the window (unpadded). argmax[...] (f32) = the index of
  /// its pixel within (b, c).
  virtual void max_pool(const Window& window, const Tensor& x, const Tensor& y,
                        const Tensor& argmax) = 0;
  /// dx = 0, except that each dy is added to the pixel that max_pool chose.
  virtual void max_pool_grad(const Window& window, const Tensor& dy, const Tensor& argmax,
                             const Tensor& dx) = 0;
  /// Mean cross-entropy of softmax(logits[rows, classes]) against labels[rows] (u8), written to
  /// loss[0]; dlogits = its gradient. dlogits may be logits.
  virtual void softmax_xent(std::size_t rows, std::size_t classes, const Tensor& logits,
                            const Tensor& labels, const Tensor& dlogits, const Tensor& loss) = 0;
};

}  // namespace trigram
