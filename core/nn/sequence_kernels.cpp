#include "core/nn/sequence_kernels.h"

#include <algorithm>
#include <cmath>

#include "core/math/elementary.h"
#include "core/nn/host_nn_ops.h"

namespace trigram::sequence_kernels {
namespace {

/// The sum of term(0) ... term(n - 1) in the order of a warp: lane i adds every 32nd term from term
/// i on, then the lanes are added as a tree.
template <class Term>
float warp_sum(std::size_t n, const Term& term) {
  constexpr std::size_t kLanes = 32;
  float sums[kLanes] = {};
  std::size_t c = 0;
  for (; c + kLanes <= n; c += kLanes) {
    for (std::size_t i = 0; i < kLanes; ++i) sums[i] += term(c + i);
  }
  for (std::size_t i = 0; c + i < n; ++i) sums[i] += term(c + i);
  for (std::size_t width = kLanes / 2; width > 0; width /= 2) {
    for (std::size_t i = 0; i < width; ++i) sums[i] += sums[i + width];
  }
  return sums[0];
}

/// Turns a row of products q . k into probabilities. Key j lies row - j rows before the query.
void causal_softmax_row(std::size_t length, std::size_t row, float scale, float slope, float* p) {
  float largest = -INFINITY;
  for (std::size_t j = 0; j <= row; ++j) {
    p[j] = p[j] * scale - slope * static_cast<float>(row - j);
    largest = p[j] > largest ? p[j] : largest;
  }
  // Infinite scores and NaN make the row NaN.
  for (std::size_t j = 0; j <= row; ++j) p[j] = exp_portable(p[j] - largest);
  const float inverse = 1 / warp_sum(row + 1, [p](std::size_t j) { return p[j]; });
  for (std::size_t j = 0; j <= row; ++j) p[j] *= inverse;
  std::fill(p + row + 1, p + length, 0.f);
}

/// Turns a row of the gradient of probabilities into the gradient of the products q . k.
void causal_softmax_grad_row(std::size_t length, std::size_t row, float scale, const float* p,
                             float* d) {
  const float mean = warp_sum(row + 1, [=](std::size_t j) { return p[j] * d[j]; });
  for (std::size_t j = 0; j <= row; ++j) d[j] = p[j] * (d[j] - mean) * scale;
  std::fill(d + row + 1, d + length, 0.f);
}

/// Calls visit(head, length, first row, offset of its pairs) for every head of every sequence.
template <class Visit>
void for_each_head(const Attention& shape, const Visit& visit) {
  std::size_t row = 0, pair = 0;
  for (const std::size_t length : shape.lengths) {
    for (std::size_t h = 0; h < shape.heads; ++h, pair += length * length) {
      visit(h, length, row, pair);
    }
    row += length;
  }
}

}  // namespace

void embedding(std::size_t rows, std::size_t cols, const float* table, const std::uint8_t* indices,
               float* y) {
  for (std::size_t r = 0; r < rows; ++r) {
    std::copy_n(table + indices[r] * cols, cols, y + r * cols);
  }
}

void embedding_grad(std::size_t rows, std::size_t cols, const float* dy,
                    const std::uint8_t* indices, float beta, float* dtable) {
  constexpr std::size_t kEntries = 256;
  if (beta == 0) std::fill_n(dtable, kEntries * cols, 0.f);
  else if (beta != 1)
    std::transform(dtable, dtable + kEntries * cols, dtable, [beta](float x) { return beta * x; });
  for (std::size_t r = 0; r < rows; ++r) {
    float* const entry = dtable + indices[r] * cols;
    for (std::size_t c = 0; c < cols; ++c) entry[c] += dy[r * cols + c];
  }
}

void layer_norm(std::size_t rows, std::size_t cols, const float* x, const float* gain,
                const float* bias, float* normalised, float* scale, float* y) {
  const auto n = static_cast<float>(cols);
  for (std::size_t r = 0; r < rows; ++r, x += cols, y += cols, normalised += cols) {
    const float mean = warp_sum(cols, [x](std::size_t c) { return x[c]; }) / n;
    const auto square = [x, mean](std::size_t c) { return (x[c] - mean) * (x[c] - mean); };
    const float factor = 1 / std::sqrt(warp_sum(cols, square) / n + 1e-5f);
    scale[r] = factor;
    for (std::size_t c = 0; c < cols; ++c) {
      normalised[c] = (x[c] - mean) * factor;
      y[c] = gain[c] * normalised[c] + bias[c];
    }
  }
}

void layer_norm_grad(std::size_t rows, std::size_t cols, const float* gain, const float* scale,
                     const float* dy, float* normalised, float* dx) {
  const auto n = static_cast<float>(cols);
  for (std::size_t r = 0; r < rows; ++r, dy += cols, normalised += cols, dx += cols) {
    const auto inner = [=](std::size_t c) { return gain[c] * dy[c]; };
    const float mean = warp_sum(cols, inner) / n;
    const float along = warp_sum(cols, [=](std::size_t c) { return inner(c) * normalised[c]; }) / n;
    for (std::size_t c = 0; c < cols; ++c) {
      dx[c] = scale[r] * ((inner(c) - mean) - normalised[c] * along);
      normalised[c] *= dy[c];
    }
  }
}

void gelu(std::size_t n, const float* x, float* y) {
  for (std::size_t i = 0; i < n; ++i) y[i] = gelu_portable(x[i]);
}

void gelu_grad(std::size_t n, const float* x, float* dx) {
  for (std::size_t i = 0; i < n; ++i) dx[i] *= gelu_slope(x[i]);
}

void attention(const Attention& shape, const float* qkv, float* probabilities, float* y) {
  const std::size_t width = shape.width(), d = shape.head_width, ld = 3 * width;
  const float scale = shape.scale();
  for_each_head(shape, [&](std::size_t h, std::size_t length, std::size_t row, std::size_t pair) {
    const float* const q = qkv + row * ld + h * d;
    float* const p = probabilities + pair;
    gemm({.m = length, .n = length, .k = d, .transpose_b = true}, q, ld, q + width, ld, 0, p,
         length);
    const float slope =
        attention_slope(static_cast<unsigned>(h), static_cast<unsigned>(shape.heads));
    for (std::size_t i = 0; i < length; ++i) {
      causal_softmax_row(length, i, scale, slope, p + i * length);
    }
    gemm({.m = length, .n = d, .k = length}, p, length, q + 2 * width, ld, 0,
         y + row * width + h * d, width);
  });
}

void attention_grad(const Attention& shape, const float* qkv, const float* probabilities,
                    const float* dy, float* dprobabilities, float* dqkv) {
  const std::size_t width = shape.width(), d = shape.head_width, ld = 3 * width;
  const float scale = shape.scale();
  for_each_head(shape, [&](std::size_t h, std::size_t length, std::size_t row, std::size_t pair) {
    const float* const q = qkv + row * ld + h * d;
    const float* const k = q + width;
    float* const dq = dqkv + row * ld + h * d;
    const float* const dyh = dy + row * width + h * d;
    const float* const p = probabilities + pair;
    float* const dp = dprobabilities + pair;
    const Gemm by_columns{.m = length, .n = d, .k = length, .transpose_a = true};
    gemm(by_columns, p, length, dyh, width, 0, dq + 2 * width, ld);
    gemm({.m = length, .n = length, .k = d, .transpose_b = true}, dyh, width, q + 2 * width, ld, 0,
         dp, length);
    for (std::size_t i = 0; i < length; ++i) {
      causal_softmax_grad_row(length, i, scale, p + i * length, dp + i * length);
    }
    gemm({.m = length, .n = d, .k = length}, dp, length, k, ld, 0, dq, ld);
    gemm(by_columns, dp, length, q, ld, 0, dq + width, ld);
  });
}

void gru(std::size_t rows, std::size_t cols, const float* x, const float* h, const float* previous,
         float* gates, float* state) {
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t at = 3 * r * cols;
    for (std::size_t c = 0; c < cols; ++c) {
      const std::size_t reset = at + c, update = reset + cols, candidate = update + cols;
      gates[reset] = sigmoid_portable(x[reset] + h[reset]);
      gates[update] = sigmoid_portable(x[update] + h[update]);
      gates[candidate] = tanh_portable(x[candidate] + gates[reset] * h[candidate]);
      state[r * cols + c] =
          (1 - gates[update]) * gates[candidate] + gates[update] * previous[r * cols + c];
    }
  }
}

void gru_grad(std::size_t rows, std::size_t cols, const float* gates, const float* h,
              const float* previous, const float* dstate, float* dx, float* dh, float* dprevious) {
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t at = 3 * r * cols;
    for (std::size_t c = 0; c < cols; ++c) {
      const std::size_t i = r * cols + c;
      const std::size_t reset = at + c, update = reset + cols, candidate = update + cols;
      const float z = gates[update], n = gates[candidate], q = gates[reset], d = dstate[i];
      const float dn = d * (1 - z) * (1 - n * n);
      const float dz = d * (previous[i] - n) * (z * (1 - z));
      const float dr = dn * h[candidate] * (q * (1 - q));
      dx[reset] = dh[reset] = dr;
      dx[update] = dh[update] = dz;
      dx[candidate] = dn;
      dh[candidate] = dn * q;
      dprevious[i] += z * d;
    }
  }
}

}  // namespace trigram::sequence_kernels
