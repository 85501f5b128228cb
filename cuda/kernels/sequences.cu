// The operations of NnOps for language models.

#include "core/math/elementary.h"
#include "cuda/kernels/grid.h"
#include "cuda/kernels/nn.h"
#include "cuda/kernels/rounding.h"

namespace trigram::cuda {
namespace {

constexpr unsigned kEntries = 256;  // of a table of embeddings, whose indices are bytes

/// The sum of term(0) ... term(n - 1), in the order of the host. All lanes get it.
template <class Term>
__device__ __forceinline__ float warp_sum(std::size_t n, const Term& term) {
  float sum = 0;
  for (std::size_t c = threadIdx.x % 32; c < n; c += 32) sum = add(sum, term(c));
  for (int distance = 16; distance > 0; distance /= 2) {
    sum = add(sum, __shfl_xor_sync(0xFFFFFFFF, sum, distance));
  }
  return sum;
}

/// One warp handles one row of a kernel.
__device__ __forceinline__ std::size_t warp_row() {
  return static_cast<std::size_t>(blockIdx.x) * (kBlock / 32) + threadIdx.x / 32;
}
unsigned blocks_of_rows(std::size_t rows) {
  return static_cast<unsigned>((rows + kBlock / 32 - 1) / (kBlock / 32));
}

__global__ void add_kernel(std::size_t n, const float* x, float* y) {
  for (std::size_t i = grid_thread(); i < n; i += grid_threads()) y[i] = add(y[i], x[i]);
}

__global__ void embedding_kernel(std::size_t n, std::size_t cols, const float* table,
                                 const std::uint8_t* indices, float* y) {
  for (std::size_t i = grid_thread(); i < n; i += grid_threads()) {
    y[i] = table[indices[i / cols] * cols + i % cols];
  }
}

// One block sums the rows of one entry, in their order.
__global__ void __launch_bounds__(kBlock)
    embedding_grad_kernel(std::size_t rows, std::size_t cols, const float* dy,
                          const std::uint8_t* indices, float beta, float* dtable) {
  for (std::size_t c = threadIdx.x; c < cols; c += kBlock) {
    float& entry = dtable[blockIdx.x * cols + c];
    float sum = beta == 0 ? 0 : mul(beta, entry);
    for (std::size_t r = 0; r < rows; ++r) {
      if (indices[r] == blockIdx.x) sum = add(sum, dy[r * cols + c]);
    }
    entry = sum;
  }
}

__global__ void __launch_bounds__(kBlock)
    layer_norm_kernel(std::size_t rows, std::size_t cols, const float* x, const float* gain,
                      const float* bias, float* normalised, float* scale, float* y) {
  const std::size_t r = warp_row(), first = r * cols;
  if (r >= rows) return;
  const auto n = static_cast<float>(cols);
  const float mean = div(warp_sum(cols, [&](std::size_t c) { return x[first + c]; }), n);
  const auto square = [&](std::size_t c) {
    const float centred = sub(x[first + c], mean);
    return mul(centred, centred);
  };
  const float factor = div(1, __fsqrt_rn(add(div(warp_sum(cols, square), n), 1e-5f)));
  if (threadIdx.x % 32 == 0) scale[r] = factor;
  for (std::size_t c = threadIdx.x % 32; c < cols; c += 32) {
    const float value = mul(sub(x[first + c], mean), factor);
    normalised[first + c] = value;
    y[first + c] = add(mul(gain[c], value), bias[c]);
  }
}

__global__ void __launch_bounds__(kBlock)
    layer_norm_grad_kernel(std::size_t rows, std::size_t cols, const float* gain,
                           const float* scale, const float* dy, float* normalised, float* dx) {
  const std::size_t r = warp_row(), first = r * cols;
  if (r >= rows) return;
  const auto n = static_cast<float>(cols);
  const auto inner = [&](std::size_t c) { return mul(gain[c], dy[first + c]); };
  const float mean = div(warp_sum(cols, inner), n);
  const float along =
      div(warp_sum(cols, [&](std::size_t c) { return mul(inner(c), normalised[first + c]); }), n);
  for (std::size_t c = threadIdx.x % 32; c < cols; c += 32) {
    const float value = normalised[first + c];
    dx[first + c] = mul(scale[r], sub(sub(inner(c), mean), mul(value, along)));
    normalised[first + c] = mul(value, dy[first + c]);
  }
}

__global__ void gelu_kernel(std::size_t n, const float* x, float* y) {
  for (std::size_t i = grid_thread(); i < n; i += grid_threads()) y[i] = gelu_portable(x[i]);
}

__global__ void gelu_grad_kernel(std::size_t n, const float* x, float* dx) {
  for (std::size_t i = grid_thread(); i < n; i += grid_threads()) {
    dx[i] = mul(dx[i], gelu_slope(x[i]));
  }
}

__global__ void __launch_bounds__(kBlock)
    causal_softmax_kernel(unsigned heads, std::size_t length, float scale, float* p) {
  const std::size_t r = warp_row(), row = r % length;
  if (r >= heads * length) return;
  p += r * length;
  const float slope = attention_slope(static_cast<unsigned>(r / length), heads);
  float largest = -INFINITY;
  for (std::size_t j = threadIdx.x % 32; j <= row; j += 32) {
    p[j] = sub(mul(p[j], scale), mul(slope, static_cast<float>(row - j)));
    largest = fmaxf(largest, p[j]);
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xFFFFFFFF, largest, distance));
  }
  for (std::size_t j = threadIdx.x % 32; j <= row; j += 32) p[j] = exp_portable(sub(p[j], largest));
  // Each lane reads only what it has written itself.
  const float inverse = div(1, warp_sum(row + 1, [p](std::size_t j) { return p[j]; }));
  for (std::size_t j = threadIdx.x % 32; j < length; j += 32) {
    p[j] = j <= row ? mul(p[j], inverse) : 0;
  }
}

__global__ void __launch_bounds__(kBlock)
    causal_softmax_grad_kernel(std::size_t rows, std::size_t length, float scale, const float* p,
                               float* d) {
  const std::size_t r = warp_row(), row = r % length;
  if (r >= rows) return;
  p += r * length;
  d += r * length;
  const float mean = warp_sum(row + 1, [=](std::size_t j) { return mul(p[j], d[j]); });
  for (std::size_t j = threadIdx.x % 32; j < length; j += 32) {
    d[j] = j <= row ? mul(mul(p[j], sub(d[j], mean)), scale) : 0;
  }
}

__global__ void gru_kernel(std::size_t n, std::size_t cols, const float* x, const float* h,
                           const float* previous, float* gates, float* state) {
  for (std::size_t i = grid_thread(); i < n; i += grid_threads()) {
    const std::size_t reset = i / cols * 3 * cols + i % cols, update = reset + cols,
                      candidate = update + cols;
    const float q = sigmoid_portable(add(x[reset], h[reset]));
    const float z = sigmoid_portable(add(x[update], h[update]));
    const float c = tanh_portable(add(x[candidate], mul(q, h[candidate])));
    gates[reset] = q;
    gates[update] = z;
    gates[candidate] = c;
    state[i] = add(mul(sub(1, z), c), mul(z, previous[i]));
  }
}

__global__ void gru_grad_kernel(std::size_t n, std::size_t cols, const float* gates, const float* h,
                                const float* previous, const float* dstate, float* dx, float* dh,
                                float* dprevious) {
  for (std::size_t i = grid_thread(); i < n; i += grid_threads()) {
    const std::size_t reset = i / cols * 3 * cols + i % cols, update = reset + cols,
                      candidate = update + cols;
    const float q = gates[reset], z = gates[update], c = gates[candidate], d = dstate[i];
    const float dc = mul(mul(d, sub(1, z)), sub(1, mul(c, c)));
    const float dz = mul(mul(d, sub(previous[i], c)), mul(z, sub(1, z)));
    const float dq = mul(mul(dc, h[candidate]), mul(q, sub(1, q)));
    dx[reset] = dh[reset] = dq;
    dx[update] = dh[update] = dz;
    dx[candidate] = dc;
    dh[candidate] = mul(dc, q);
    dprevious[i] = add(dprevious[i], mul(z, d));
  }
}

}  // namespace

void add(cudaStream_t stream, std::size_t n, const float* x, float* y) {
  if (n > 0) launch(stream, {.grid = blocks_for(n)}, add_kernel, n, x, y);
}

void embedding(cudaStream_t stream, std::size_t rows, std::size_t cols, const float* table,
               const std::uint8_t* indices, float* y) {
  const std::size_t n = rows * cols;
  if (n > 0) launch(stream, {.grid = blocks_for(n)}, embedding_kernel, n, cols, table, indices, y);
}

void embedding_grad(cudaStream_t stream, std::size_t rows, std::size_t cols, const float* dy,
                    const std::uint8_t* indices, float beta, float* dtable) {
  launch(stream, {.grid = kEntries, .block = kBlock}, embedding_grad_kernel, rows, cols, dy,
         indices, beta, dtable);
}

void layer_norm(cudaStream_t stream, std::size_t rows, std::size_t cols, const float* x,
                const float* gain, const float* bias, float* normalised, float* scale, float* y) {
  if (rows == 0) return;
  launch(stream, {.grid = blocks_of_rows(rows), .block = kBlock}, layer_norm_kernel, rows, cols, x,
         gain, bias, normalised, scale, y);
}

void layer_norm_grad(cudaStream_t stream, std::size_t rows, std::size_t cols, const float* gain,
                     const float* scale, const float* dy, float* normalised, float* dx) {
  if (rows == 0) return;
  launch(stream, {.grid = blocks_of_rows(rows), .block = kBlock}, layer_norm_grad_kernel, rows,
         cols, gain, scale, dy, normalised, dx);
}

void gelu(cudaStream_t stream, std::size_t n, const float* x, float* y) {
  if (n > 0) launch(stream, {.grid = blocks_for(n)}, gelu_kernel, n, x, y);
}

void gelu_grad(cudaStream_t stream, std::size_t n, const float* x, float* dx) {
  if (n > 0) launch(stream, {.grid = blocks_for(n)}, gelu_grad_kernel, n, x, dx);
}

void causal_softmax(cudaStream_t stream, std::size_t heads, std::size_t length, float scale,
                    float* p) {
  if (length == 0) return;
  launch(stream, {.grid = blocks_of_rows(heads * length), .block = kBlock}, causal_softmax_kernel,
         static_cast<unsigned>(heads), length, scale, p);
}

void causal_softmax_grad(cudaStream_t stream, std::size_t heads, std::size_t length, float scale,
                         const float* p, float* d) {
  if (length == 0) return;
  launch(stream, {.grid = blocks_of_rows(heads * length), .block = kBlock},
         causal_softmax_grad_kernel, heads * length, length, scale, p, d);
}

void gru(cudaStream_t stream, std::size_t rows, std::size_t cols, const float* x, const float* h,
         const float* previous, float* gates, float* state) {
  const std::size_t n = rows * cols;
  if (n > 0)
    launch(stream, {.grid = blocks_for(n)}, gru_kernel, n, cols, x, h, previous, gates, state);
}

void gru_grad(cudaStream_t stream, std::size_t rows, std::size_t cols, const float* gates,
              const float* h, const float* previous, const float* dstate, float* dx, float* dh,
              float* dprevious) {
  const std::size_t n = rows * cols;
  if (n > 0)
    launch(stream, {.grid = blocks_for(n)}, gru_grad_kernel, n, cols, gates, h, previous, dstate,
           dx, dh, dprevious);
}

}  // namespace trigram::cuda
