#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/element_types.h"
#include "cuda/kernels/grid.h"

/// Loops over vectors, four elements at a time, for vectors that begin at any address.
namespace trigram::cuda {

/// Four neighbouring elements as f32.
struct Four {
  float v[4];
};

/// The type that loads and stores four elements at once.
template <class Stored>
struct PackOf;
template <>
struct PackOf<float> {
  using Pack = float4;
};
template <>
struct PackOf<std::uint16_t> {
  using Pack = ushort4;
};
template <>
struct PackOf<std::uint8_t> {
  using Pack = uchar4;
};

template <class T>
bool is_aligned(const T* address) {
  return reinterpret_cast<std::uintptr_t>(address) % (4 * sizeof(T)) == 0;
}

/// A vector with groups of four elements from index `head` on. The elements before `head` are
/// handled one by one. `aligned` tells whether the groups are aligned for Pack.
template <class Type>
struct Vector {
  using Stored = typename Type::Stored;
  using Pack = typename PackOf<Stored>::Pack;

  Vector() = default;
  Vector(Stored* values, std::size_t head) : data(values), aligned(is_aligned(values + head)) {}

  __device__ __forceinline__ float load(std::size_t i) const { return Type::load(data[i]); }
  __device__ __forceinline__ void store(std::size_t i, float x) const { data[i] = Type::store(x); }

  __device__ __forceinline__ Four load_four(std::size_t i) const {
    if (aligned) {
      const Pack p = *reinterpret_cast<const Pack*>(data + i);
      return {{Type::load(p.x), Type::load(p.y), Type::load(p.z), Type::load(p.w)}};
    }
    return {{load(i), load(i + 1), load(i + 2), load(i + 3)}};
  }
  __device__ __forceinline__ void store_four(std::size_t i, const Four& x) const {
    if (aligned) {
      const Pack p = {Type::store(x.v[0]), Type::store(x.v[1]), Type::store(x.v[2]),
                      Type::store(x.v[3])};
      *reinterpret_cast<Pack*>(data + i) = p;
      return;
    }
    for (int j = 0; j < 4; ++j) store(i + static_cast<std::size_t>(j), x.v[j]);
  }

  Stored* data = nullptr;
  bool aligned = false;
};
using Floats = Vector<element::F32>;

/// How n elements are split: first `head` single elements, then groups of four, then up to three
/// single elements.
struct Cut {
  std::size_t n = 0, head = 0;
  __host__ __device__ __forceinline__ std::size_t groups() const { return (n - head) / 4; }
};

/// The split that aligns the groups of a vector at `address`.
template <class T>
Cut cut_for(std::size_t n, const T* address) {
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(address) / sizeof(T) % 4;
  const std::size_t head = beyond == 0 ? 0 : 4 - beyond;
  return {n, head < n ? head : n};
}

/// Calls body.one(i) for every single element i, and body.four(i) for every group, where i is its
/// first element. `threads` threads share the calls; `thread` is the index of the calling thread.
template <class Body>
__device__ __forceinline__ void for_each_group(const Cut& cut, std::size_t thread,
                                               std::size_t threads, const Body& body) {
  const std::size_t groups = cut.groups(), tail = cut.head + 4 * groups;
  for (std::size_t g = thread; g < groups; g += threads) body.four(cut.head + 4 * g);
  if (thread < cut.head) body.one(thread);
  if (thread < cut.n - tail) body.one(tail + thread);
}

/// A kernel that applies an operation to each element. `body` has the functions one(i) and four(i).
template <class Body>
__global__ void groups_kernel(Cut cut, Body body) {
  for_each_group(cut, grid_thread(), grid_threads(), body);
}

template <class Body>
void launch_groups(cudaStream_t stream, const Cut& cut, const Body& body) {
  if (cut.n == 0) return;
  static const unsigned resident = resident_blocks(groups_kernel<Body>);
  launch(stream, {.grid = blocks_for(cut.groups(), resident)}, groups_kernel<Body>, cut, body);
}

}  // namespace trigram::cuda
