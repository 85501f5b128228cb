#include "core/nn/host_nn_ops.h"

#include <algorithm>
#include <cstdint>

#include "core/check.h"
#include "core/math/elementary.h"
#include "core/math/low_rank.h"
#include "core/nn/sequence_kernels.h"
#include "core/operands.h"

namespace trigram {
namespace {

// Turns one row of logits into the gradient p - onehot(label) and returns its loss, -log p[label].
// `gradient` may be the same array as `logits`.
double softmax_row(std::size_t classes, const float* logits, std::size_t label, float scale,
                   float* gradient) {
  float largest = logits[0];
  for (std::size_t c = 1; c < classes; ++c) largest = std::max(largest, logits[c]);
  // If a logit is NaN or infinite, this sum, and so the loss and the gradient, become NaN.
  const float at_label = logits[label] - largest;
  float sum = 0;
  for (std::size_t c = 0; c < classes; ++c) {
    gradient[c] = exp_portable(logits[c] - largest);
    sum += gradient[c];
  }
  for (std::size_t c = 0; c < classes; ++c) {
    gradient[c] = (gradient[c] / sum - (c == label ? 1.f : 0.f)) * scale;
  }
  return log_portable(sum) - at_label;
}

struct Sizes {
  explicit Sizes(const Window& w)
      : image(w.height * w.width),
        out(w.out_height() * w.out_width()),
        taps(w.channels * w.kernel * w.kernel),
        images(w.batch * w.channels * image),
        pooled(w.batch * w.channels * out),
        columns(w.batch * out * taps) {}
  std::size_t image, out, taps, images, pooled, columns;
};

// Visits the columns in order. For every run of adjacent pixels under a row of the window it calls
// visit(column index, image index, count); for every run outside the image it calls pad(column
// index, count).
template <class Visit, class Pad>
void for_each_run(const Window& w, const Visit& visit, const Pad& pad) {
  const Sizes sizes(w);
  std::size_t column = 0;
  for (std::size_t b = 0; b < w.batch; ++b) {
    for (std::size_t out = 0; out < sizes.out; ++out) {
      // The window's top row, in the padded image.
      const std::size_t top = out / w.out_width() * w.stride;
      const std::size_t left = out % w.out_width() * w.stride;
      // Of this row of the window, the positions [first, last) lie within the image.
      const std::size_t first = std::min(w.padding - std::min(w.padding, left), w.kernel);
      const std::size_t last = std::max(
          first, std::min(w.kernel, w.width + w.padding - std::min(left, w.width + w.padding)));
      for (std::size_t row = 0; row < w.channels * w.kernel; ++row, column += w.kernel) {
        const std::size_t c = row / w.kernel, y = top + row % w.kernel;
        if (y < w.padding || y >= w.height + w.padding || first == last) {
          pad(column, w.kernel);
          continue;
        }
        const std::size_t pixel =
            ((b * w.channels + c) * w.height + y - w.padding) * w.width + left + first - w.padding;
        pad(column, first);
        visit(column + first, pixel, last - first);
        pad(column + last, w.kernel - last);
      }
    }
  }
}

class HostNnOps final : public NnOps {
 public:
  void gemm(const Gemm& shape, const Tensor& a, const Tensor& b, float beta,
            const Tensor& c) override {
    const auto [m, n, k, ta, tb] = shape;
    trigram::gemm(shape, operand(a, m * k), operand(b, k * n), beta, operand(c, m * n));
  }

  void orthonormalise(std::size_t count, std::size_t length, const Tensor& x,
                      Dependent dependent) override {
    low_rank::orthonormalise(operand(x, count * length), length, count,
                             dependent == Dependent::is_replaced);
  }

  void normalise(std::size_t count, std::size_t length, const Tensor& x) override {
    float* vector = operand(x, count * length);
    for (std::size_t i = 0; i < count; ++i, vector += length)
      low_rank::orthonormalise(vector, length, 1);
  }

  void bias(std::size_t rows, std::size_t cols, const Tensor& x, const Tensor& bias) override {
    float* row = operand(x, rows * cols);
    const float* b = operand(bias, cols);
    for (std::size_t r = 0; r < rows; ++r, row += cols) {
      for (std::size_t c = 0; c < cols; ++c) row[c] += b[c];
    }
  }

  void bias_grad(std::size_t rows, std::size_t cols, const Tensor& dx,
                 const Tensor& dbias) override {
    const float* x = operand(dx, rows * cols);
    float* total = operand(dbias, cols);
    // Rows are added into 32 sums: sum i takes every 32nd row from row i on. The sums are combined
    // as a tree, so that a GPU can add in the same order.
    constexpr std::size_t kSums = 32, kColumns = 32;
    for (std::size_t begin = 0; begin < cols; begin += kColumns) {
      const std::size_t count = std::min(kColumns, cols - begin);
      float sums[kSums][kColumns] = {};
      for (std::size_t r = 0; r < rows; ++r) {
        const float* const row = x + r * cols + begin;
        for (std::size_t c = 0; c < count; ++c) sums[r % kSums][c] += row[c];
      }
      for (std::size_t width = kSums / 2; width > 0; width /= 2) {
        for (std::size_t i = 0; i < width; ++i) {
          for (std::size_t c = 0; c < kColumns; ++c) sums[i][c] += sums[i + width][c];
        }
      }
      std::copy_n(sums[0], count, total + begin);
    }
  }

  void relu(const Tensor& x) override {
    float* values = operand(x, x.numel());
    // NaN stays NaN, because a diverged run must stay visible.
    for (std::size_t i = 0; i < x.numel(); ++i) values[i] = values[i] < 0 ? 0 : values[i];
  }

  void relu_grad(const Tensor& y, const Tensor& dx) override {
    const std::size_t n = dx.numel();
    const float* out = operand(y, n);
    float* d = operand(dx, n);
    for (std::size_t i = 0; i < n; ++i) d[i] = out[i] == 0 ? 0 : d[i];
  }

  void softmax_xent(std::size_t rows, std::size_t classes, const Tensor& logits,
                    const Tensor& labels, const Tensor& dlogits, const Tensor& loss) override {
    const float* x = operand(logits, rows * classes);
    float* gradient = operand(dlogits, rows * classes);
    float* mean = operand(loss, 1);
    const std::uint8_t* const label = byte_operand(labels, rows);
    double total = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      TRIGRAM_CHECK(label[r] < classes, "label {} of {} classes", label[r], classes);
      total += softmax_row(classes, x + r * classes, label[r], 1.f / static_cast<float>(rows),
                           gradient + r * classes);
    }
    mean[0] = static_cast<float>(total / static_cast<double>(rows));
  }

  void im2col(const Window& window, const Tensor& images, const Tensor& columns) override {
    const Sizes sizes(window);
    const float* image = operand(images, sizes.images);
    float* column = operand(columns, sizes.columns);
    for_each_run(
        window,
        [=](std::size_t to, std::size_t from, std::size_t count) {
          std::copy_n(image + from, count, column + to);
        },
        [=](std::size_t to, std::size_t count) { std::fill_n(column + to, count, 0.f); });
  }

  void col2im(const Window& window, const Tensor& columns, const Tensor& images) override {
    const Sizes sizes(window);
    const float* column = operand(columns, sizes.columns);
    float* image = operand(images, sizes.images);
    std::fill_n(image, sizes.images, 0.f);
    for_each_run(
        window,
        [=](std::size_t from, std::size_t to, std::size_t count) {
          for (std::size_t i = 0; i < count; ++i) image[to + i] += column[from + i];
        },
        [](std::size_t, std::size_t) {});
  }

  void max_pool(const Window& window, const Tensor& x, const Tensor& y,
                const Tensor& argmax) override {
    TRIGRAM_CHECK(window.padding == 0, "max_pool does not pad, {} asked", window.padding);
    const Sizes sizes(window);
    const float* in = operand(x, sizes.images);
    float* out = operand(y, sizes.pooled);
    float* chosen = operand(argmax, sizes.pooled);
    for (std::size_t i = 0; i < sizes.pooled; ++i) {
      const float* image = in + i / sizes.out * sizes.image;
      const std::size_t at = i % sizes.out;
      const std::size_t corner = at / window.out_width() * window.stride * window.width +
                                 at % window.out_width() * window.stride;
      std::size_t best = corner;
      for (std::size_t ky = 0; ky < window.kernel; ++ky) {
        for (std::size_t kx = 0; kx < window.kernel; ++kx) {
          const std::size_t pixel = corner + ky * window.width + kx;
          // Among equal pixels the first wins. A NaN wins over all numbers, so that a diverged run
          // stays visible.
          if (image[pixel] > image[best] || image[pixel] != image[pixel]) best = pixel;
        }
      }
      out[i] = image[best];
      chosen[i] = static_cast<float>(best);
    }
  }

  void max_pool_grad(const Window& window, const Tensor& dy, const Tensor& argmax,
                     const Tensor& dx) override {
    const Sizes sizes(window);
    const float* out = operand(dy, sizes.pooled);
    const float* chosen = operand(argmax, sizes.pooled);
    float* in = operand(dx, sizes.images);
    std::fill_n(in, sizes.images, 0.f);
    for (std::size_t i = 0; i < sizes.pooled; ++i) {
      in[i / sizes.out * sizes.image + static_cast<std::size_t>(chosen[i])] += out[i];
    }
  }

  void add(const Tensor& x, const Tensor& y) override {
    const std::size_t n = y.numel();
    const float* from = operand(x, n);
    float* to = operand(y, n);
    for (std::size_t i = 0; i < n; ++i) to[i] += from[i];
  }

  void embedding(std::size_t rows, std::size_t cols, const Tensor& table, const Tensor& indices,
                 const Tensor& y) override {
    sequence_kernels::embedding(rows, cols, operand(table, 256 * cols), byte_operand(indices, rows),
                                operand(y, rows * cols));
  }

  void embedding_grad(std::size_t rows, std::size_t cols, const Tensor& dy, const Tensor& indices,
                      float beta, const Tensor& dtable) override {
    sequence_kernels::embedding_grad(rows, cols, operand(dy, rows * cols),
                                     byte_operand(indices, rows), beta,
                                     operand(dtable, 256 * cols));
  }

  void layer_norm(std::size_t rows, std::size_t cols, const Tensor& x, const Tensor& gain,
                  const Tensor& bias, const Tensor& normalised, const Tensor& scale,
                  const Tensor& y) override {
    sequence_kernels::layer_norm(rows, cols, operand(x, rows * cols), operand(gain, cols),
                                 operand(bias, cols), operand(normalised, rows * cols),
                                 operand(scale, rows), operand(y, rows * cols));
  }

  void layer_norm_grad(std::size_t rows, std::size_t cols, const Tensor& gain, const Tensor& scale,
                       const Tensor& dy, const Tensor& normalised, const Tensor& dx) override {
    sequence_kernels::layer_norm_grad(rows, cols, operand(gain, cols), operand(scale, rows),
                                      operand(dy, rows * cols), operand(normalised, rows * cols),
                                      operand(dx, rows * cols));
  }

  void gelu(const Tensor& x, const Tensor& y) override {
    sequence_kernels::gelu(y.numel(), operand(x, y.numel()), operand(y, y.numel()));
  }

  void gelu_grad(const Tensor& x, const Tensor& dx) override {
    sequence_kernels::gelu_grad(dx.numel(), operand(x, dx.numel()), operand(dx, dx.numel()));
  }

  void attention(const Attention& shape, const Tensor& qkv, const Tensor& probabilities,
                 const Tensor& y) override {
    const std::size_t n = shape.rows() * shape.width();
    sequence_kernels::attention(shape, operand(qkv, 3 * n), operand(probabilities, shape.pairs()),
                                operand(y, n));
  }

  void attention_grad(const Attention& shape, const Tensor& qkv, const Tensor& probabilities,
                      const Tensor& dy, const Tensor& dprobabilities, const Tensor& dqkv) override {
    const std::size_t n = shape.rows() * shape.width(), pairs = shape.pairs();
    sequence_kernels::attention_grad(shape, operand(qkv, 3 * n), operand(probabilities, pairs),
                                     operand(dy, n), operand(dprobabilities, pairs),
                                     operand(dqkv, 3 * n));
  }

  void gru(std::size_t rows, std::size_t cols, const Tensor& x, const Tensor& h,
           const Tensor& previous, const Tensor& gates, const Tensor& state) override {
    const std::size_t n = rows * cols;
    sequence_kernels::gru(rows, cols, operand(x, 3 * n), operand(h, 3 * n), operand(previous, n),
                          operand(gates, 3 * n), operand(state, n));
  }

  void gru_grad(std::size_t rows, std::size_t cols, const Tensor& gates, const Tensor& h,
                const Tensor& previous, const Tensor& dstate, const Tensor& dx, const Tensor& dh,
                const Tensor& dprevious) override {
    const std::size_t n = rows * cols;
    sequence_kernels::gru_grad(rows, cols, operand(gates, 3 * n), operand(h, 3 * n),
                               operand(previous, n), operand(dstate, n), operand(dx, 3 * n),
                               operand(dh, 3 * n), operand(dprevious, n));
  }
};

}  // namespace

NnOps& host_nn_ops() {
  static HostNnOps ops;
  return ops;
}

}  // namespace trigram
