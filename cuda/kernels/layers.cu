// The operations of NnOps on rows and columns.

#include "core/math/elementary.h"
#include "cuda/kernels/grid.h"
#include "cuda/kernels/nn.h"
#include "cuda/kernels/rounding.h"

namespace trigram::cuda {
namespace {

constexpr unsigned kTile = 32;

__global__ void bias_kernel(std::size_t n, std::size_t cols, float* x, const float* b) {
  for (std::size_t i = grid_thread(); i < n; i += grid_threads()) x[i] = add(x[i], b[i % cols]);
}

// A block sums kTile columns, with kTile threads for each column. It adds in the host's
// order: every 32nd row, then a tree.
__global__ void __launch_bounds__(kTile* kTile)
    bias_grad_kernel(std::size_t rows, std::size_t cols, const float* dx, float* dbias) {
  __shared__ float sums[kTile][kTile + 1];
  const std::size_t col = static_cast<std::size_t>(blockIdx.x) * kTile + threadIdx.x;
  float sum = 0;
  if (col < cols) {
    for (std::size_t row = threadIdx.y; row < rows; row += kTile) {
      sum = add(sum, dx[row * cols + col]);
    }
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  // Each warp reduces the partial sums of one column.
  float total = sums[threadIdx.x][threadIdx.y];
  for (int distance = 16; distance > 0; distance /= 2) {
    total = add(total, __shfl_xor_sync(0xFFFFFFFF, total, distance));
  }
  const std::size_t own = static_cast<std::size_t>(blockIdx.x) * kTile + threadIdx.y;
  if (threadIdx.x == 0 && own < cols) dbias[own] = total;
}

// NaN stays NaN, because a diverged run must stay visible.
__global__ void relu_kernel(std::size_t n, float* x) {
  for (std::size_t i = grid_thread(); i < n; i += grid_threads()) x[i] = x[i] < 0 ? 0 : x[i];
}

__global__ void relu_grad_kernel(std::size_t n, const float* y, float* dx) {
  for (std::size_t i = grid_thread(); i < n; i += grid_threads()) {
    if (y[i] == 0) dx[i] = 0;
  }
}

template <class Combine>
__device__ __forceinline__ float warp_reduce(float value, const Combine& combine) {
  for (int distance = 16; distance > 0; distance /= 2) {
    value = combine(value, __shfl_xor_sync(0xFFFFFFFF, value, distance));
  }
  return value;
}

// One warp handles one row. All lanes return the row's loss. The logits and the gradient may have
// the same memory, because each lane reads and writes only its own columns.
__device__ double softmax_row(std::size_t classes, const float* logits, unsigned label, float scale,
                              float* gradient) {
  const unsigned lane = threadIdx.x % 32;
  float largest = -INFINITY, at_label = 0;
  for (std::size_t c = lane; c < classes; c += 32) {
    largest = fmaxf(largest, logits[c]);
    if (c == label) at_label = logits[c];
  }
  largest = warp_reduce(largest, [](float a, float b) { return fmaxf(a, b); });
  // The lane that owns the label's column broadcasts its logit.
  at_label = __shfl_sync(0xFFFFFFFF, at_label, static_cast<int>(label % 32));
  float sum = 0;
  for (std::size_t first = 0; first < classes; first += 32) {
    const std::size_t c = first + lane;
    float power = 0;
    if (c < classes) gradient[c] = power = exp_portable(sub(logits[c], largest));
    // Adds sequentially, as on the host. These are at most 256 terms, because labels have one byte.
    for (int from = 0; from < 32 && first + from < classes; ++from) {
      sum = add(sum, __shfl_sync(0xFFFFFFFF, power, from));
    }
  }
  for (std::size_t c = lane; c < classes; c += 32) {
    gradient[c] = mul(sub(div(gradient[c], sum), c == label ? 1.0f : 0.0f), scale);
  }
  if (label >= classes) return nan("");
  return log_portable(static_cast<double>(sum)) - static_cast<double>(sub(at_label, largest));
}

__global__ void __launch_bounds__(1024)
    softmax_kernel(std::size_t rows, std::size_t classes, const float* logits,
                   const std::uint8_t* labels, float* dlogits, float* loss) {
  __shared__ double losses[32];
  const unsigned warp = threadIdx.x / 32;
  const float scale = 1.0f / static_cast<float>(rows);
  double sum = 0;
  for (std::size_t first = 0; first < rows; first += 32) {
    const std::size_t row = first + warp;
    if (row < rows) {
      const double own =
          softmax_row(classes, logits + row * classes, labels[row], scale, dlogits + row * classes);
      if (threadIdx.x % 32 == 0) losses[warp] = own;
    }
    __syncthreads();
    for (std::size_t i = 0; threadIdx.x == 0 && i < 32 && first + i < rows; ++i) sum += losses[i];
    __syncthreads();
  }
  if (threadIdx.x == 0) *loss = static_cast<float>(sum / static_cast<double>(rows));
}

}  // namespace

void bias(cudaStream_t stream, std::size_t rows, std::size_t cols, float* x, const float* b) {
  const std::size_t n = rows * cols;
  if (n > 0) launch(stream, {.grid = blocks_for(n)}, bias_kernel, n, cols, x, b);
}

void bias_grad(cudaStream_t stream, std::size_t rows, std::size_t cols, const float* dx,
               float* dbias) {
  if (cols == 0) return;
  const auto blocks = static_cast<unsigned>((cols + kTile - 1) / kTile);
  launch(stream, {.grid = blocks, .block = dim3(kTile, kTile)}, bias_grad_kernel, rows, cols, dx,
         dbias);
}

void relu(cudaStream_t stream, std::size_t n, float* x) {
  if (n > 0) launch(stream, {.grid = blocks_for(n)}, relu_kernel, n, x);
}

void relu_grad(cudaStream_t stream, std::size_t n, const float* y, float* dx) {
  if (n > 0) launch(stream, {.grid = blocks_for(n)}, relu_grad_kernel, n, y, dx);
}

void softmax_xent(cudaStream_t stream, std::size_t rows, std::size_t classes, const float* logits,
                  const std::uint8_t* labels, float* dlogits, float* loss) {
  launch(stream, {.block = 1024}, softmax_kernel, rows, classes, logits, labels, dlogits, loss);
}

}  // namespace trigram::cuda
