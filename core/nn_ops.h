#pragma once

#include <cmath>
#include <cstddef>
#include <span>

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

/// Causal self-attention of several heads over sequences that lie one after another: sequence s has
/// lengths[s] rows. There is no padding.
struct Attention {
  std::span<const std::size_t> lengths;
  std::size_t heads = 1, head_width = 0;
  std::size_t width() const { return heads * head_width; }
  /// The factor of products of queries and keys.
  float scale() const { return 1 / std::sqrt(static_cast<float>(head_width)); }
  std::size_t rows() const {
    std::size_t sum = 0;
    for (const std::size_t length : lengths) sum += length;
    return sum;
  }
  /// Number of pairs of rows of the same sequence, times the number of heads.
  std::size_t pairs() const {
    std::size_t sum = 0;
    for (const std::size_t length : lengths) sum += length * length;
    return heads * sum;
  }
};

/// What becomes of a vector that depends linearly on the vectors before it, or is zero.
enum class Dependent {
  becomes_zero,
  is_replaced,  // by a random direction that is orthogonal to them
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
  /// order. If a replaced vector finds no direction, since the vectors before it span the whole
  /// space, it becomes zero.
  virtual void orthonormalise(std::size_t count, std::size_t length, const Tensor& x,
                              Dependent dependent) = 0;
  /// Gives each of the vectors x[count, length] the norm 1. A vector of zeros stays zero.
  virtual void normalise(std::size_t count, std::size_t length, const Tensor& x) = 0;
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

  /// y += x, element by element.
  virtual void add(const Tensor& x, const Tensor& y) = 0;
  /// y[r, :] = table[indices[r], :], for indices[rows] (u8) and table[256, cols].
  virtual void embedding(std::size_t rows, std::size_t cols, const Tensor& table,
                         const Tensor& indices, const Tensor& y) = 0;
  /// dtable[i, :] = beta * dtable[i, :] + the sum of dy[r, :] over the rows r whose index is i. If
  /// beta = 0, dtable is not read.
  virtual void embedding_grad(std::size_t rows, std::size_t cols, const Tensor& dy,
                              const Tensor& indices, float beta, const Tensor& dtable) = 0;
  /// Layer normalisation (arXiv 1607.06450): normalised[r, :] = x[r, :] with mean 0 and variance 1
  /// (plus 1e-5 under the root), scale[r] = the factor that did this, and
  /// y = gain * normalised + bias.
  virtual void layer_norm(std::size_t rows, std::size_t cols, const Tensor& x, const Tensor& gain,
                          const Tensor& bias, const Tensor& normalised, const Tensor& scale,
                          const Tensor& y) = 0;
  /// dx = the gradient of layer_norm's input. Then normalised *= dy, whose column sums are the
  /// gradient of `gain`.
  virtual void layer_norm_grad(std::size_t rows, std::size_t cols, const Tensor& gain,
                               const Tensor& scale, const Tensor& dy, const Tensor& normalised,
                               const Tensor& dx) = 0;
  /// y = x * sigmoid(2 u), u = sqrt(2 / pi) (x + 0.044715 x^3): the Gaussian error linear unit with
  /// the tanh approximation (arXiv 1606.08415, section 2), as in GPT-2.
  virtual void gelu(const Tensor& x, const Tensor& y) = 0;
  /// dx *= the derivative of gelu at x.
  virtual void gelu_grad(const Tensor& x, const Tensor& dx) = 0;
  /// qkv[rows, 3 width] has the queries, keys and values of all heads of a row. For every head h:
  /// y[rows, width] = P V, where P = the softmax over the keys j <= i of
  /// (Q K^T)[i, j] / sqrt(head_width) - (i - j) * slope(h). The linear bias replaces embeddings of
  /// positions (ALiBi, arXiv 2108.12409; attention_slope in core/math/elementary.h).
  /// probabilities[pairs] = P of every head of the first sequence, then of the next, with zeros for
  /// j > i.
  virtual void attention(const Attention& shape, const Tensor& qkv, const Tensor& probabilities,
                         const Tensor& y) = 0;
  /// dqkv = the gradient of attention's input; dprobabilities[pairs] is scratch space.
  virtual void attention_grad(const Attention& shape, const Tensor& qkv,
                              const Tensor& probabilities, const Tensor& dy,
                              const Tensor& dprobabilities, const Tensor& dqkv) = 0;
  /// The element-wise part of a gated recurrent unit, reset gate after the product (version 1 of
  /// arXiv 1406.1078, as in cuDNN). x[rows, 3 cols] and h[rows, 3 cols] hold the contributions of
  /// the input and of the previous state to (reset, update, candidate). The operation computes
  ///   r = sigmoid(x_r + h_r), z = sigmoid(x_z + h_z), n = tanh(x_n + r * h_n),
  ///   state = (1 - z) * n + z * previous,
  /// and writes (r, z, n) to gates[rows, 3 cols].
  virtual void gru(std::size_t rows, std::size_t cols, const Tensor& x, const Tensor& h,
                   const Tensor& previous, const Tensor& gates, const Tensor& state) = 0;
  /// Given the gradient `dstate`: dx and dh = the gradients of x and h, and
  /// dprevious += z * dstate. `h` is as in gru; dh may be h.
  virtual void gru_grad(std::size_t rows, std::size_t cols, const Tensor& gates, const Tensor& h,
                        const Tensor& previous, const Tensor& dstate, const Tensor& dx,
                        const Tensor& dh, const Tensor& dprevious) = 0;
};

}  // namespace trigram
