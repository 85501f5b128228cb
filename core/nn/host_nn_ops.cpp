#include "core/nn/host_nn_ops.h"

#include <algorithm>
#include <cstdint>

#include "core/check.h"
#include "core/math/elementary.h"
#include "core/math/low_rank.h"
#include "core/operands.h"

namespace trigram {

void HostNnOps::gemm(const Gemm& shape, const Tensor& a, const Tensor& b, float beta,
                     const Tensor& c) {
  const auto [m, n, k, ta, tb] = shape;
  trigram::gemm(shape, operand(a, m * k), operand(b, k * n), beta, operand(c, m * n));
}

void HostNnOps::orthonormalise(std::size_t count, std::size_t length, const Tensor& x) {
  low_rank::orthonormalise(operand(x, count * length), length, count);
}

void HostNnOps::bias(std::size_t rows, std::size_t cols, const Tensor& x, const Tensor& bias) {
  float* row = operand(x, rows * cols);
  const float* b = operand(bias, cols);
  for (std::size_t r = 0; r < rows; ++r, row += cols) {
    for (std::size_t c = 0; c < cols; ++c) row[c] += b[c];
  }
}

void HostNnOps::bias_grad(std::size_t rows, std::size_t cols, const Tensor& dx,
                          const Tensor& dbias) {
  const float* x = operand(dx, rows * cols);
  float* total = operand(dbias, cols);
  // Rows are added into 32 sums: sum i takes every 32nd row from row i on. The sums are combined as
  // a tree, so that a GPU can add in the same order.
  constexpr std::size_t kSums = 32, kTogether = 32;
  for (std::size_t begin = 0; begin < cols; begin += kTogether) {
    const std::size_t count = std::min(kTogether, cols - begin);
    float sums[kSums][kTogether] = {};
    for (std::size_t r = 0; r < rows; ++r) {
      const float* const row = x + r * cols + begin;
      for (std::size_t c = 0; c < count; ++c) sums[r % kSums][c] += row[c];
    }
    for (std::size_t width = kSums / 2; width > 0; width /= 2) {
      for (std::size_t i = 0; i < width; ++i) {
        for (std::size_t c = 0; c < kTogether; ++c) sums[i][c] += sums[i + width][c];
      }
    }
    std::copy_n(sums[0], count, total + begin);
  }
}

void HostNnOps::relu(const Tensor& x) {
  float* values = operand(x, x.numel());
  // NaN stays NaN, because a diverged run must stay visible.
  for (std::size_t i = 0; i < x.numel(); ++i) values[i] = values[i] < 0 ? 0 : values[i];
}

void HostNnOps::relu_grad(const Tensor& y, const Tensor& dx) {
  const std::size_t n = dx.numel();
  const float* out = operand(y, n);
  float* d = operand(dx, n);
  for (std::size_t i = 0; i < n; ++i) d[i] = out[i] == 0 ? 0 : d[i];
}

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

}  // namespace

void HostNnOps::softmax_xent(std::size_t rows, std::size_t classes, const Tensor& logits,
                             const Tensor& labels, const Tensor& dlogits, const Tensor& loss) {
  const float* x = operand(logits, rows * classes);
  float* gradient = operand(dlogits, rows * classes);
  float* mean = operand(loss, 1);
  TRIGRAM_CHECK(labels.dtype() == DType::u8 && !labels.is_phantom() && labels.numel() >= rows,
                "softmax_xent of {} rows with {} labels", rows, labels.numel());
  const auto label = labels.values<std::uint8_t>();
  double total = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    TRIGRAM_CHECK(label[r] < classes, "label {} of {} classes", label[r], classes);
    total += softmax_row(classes, x + r * classes, label[r], 1.f / static_cast<float>(rows),
                         gradient + r * classes);
  }
  mean[0] = static_cast<float>(total / static_cast<double>(rows));
}

}  // namespace trigram
