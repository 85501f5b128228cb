#include "cuda/kernels/elementwise.h"

#include "cuda/kernels/grid.h"

namespace trigram::cuda {
namespace {

template <class T>
__global__ void fill_kernel(std::size_t n, T* x, T value) {
  for (std::size_t i = grid_thread(); i < n; i += grid_threads()) x[i] = value;
}

}  // namespace

template <class T>
void fill(cudaStream_t stream, std::size_t n, T* x, T value) {
  if (n > 0) launch(stream, {.grid = blocks_for(n)}, fill_kernel<T>, n, x, value);
}

template void fill(cudaStream_t, std::size_t, float*, float);
template void fill(cudaStream_t, std::size_t, std::uint16_t*, std::uint16_t);
template void fill(cudaStream_t, std::size_t, std::uint8_t*, std::uint8_t);

}  // namespace trigram::cuda
