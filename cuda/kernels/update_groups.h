#pragma once

#include "core/update_rules.h"
#include "cuda/kernels/groups.h"
#include "cuda/kernels/optimizers.h"

/// Loops of update rules over parameters, four elements at a time.
namespace trigram::cuda {

/// The index of the last of `count` pieces that has at most `part` parts before it, found by
/// bisection. `before(i)` is the number of parts before piece i.
template <class Before>
__device__ __forceinline__ unsigned last_before(unsigned count, std::size_t part,
                                                const Before& before) {
  unsigned low = 0, high = count;
  while (high - low > 1) {
    const unsigned middle = (low + high) / 2;
    if (before(middle) <= part) low = middle;
    else high = middle;
  }
  return low;
}

/// A vector at an address that only a kernel knows.
__device__ __forceinline__ Floats floats_at(float* values) {
  Floats vector;
  vector.data = values;
  vector.aligned = reinterpret_cast<std::uintptr_t>(values) % sizeof(float4) == 0;
  return vector;
}

/// Calls an element-wise rule for every element. Without kStoresStates, the states are only read.
template <class Rule, bool kStoresStates = true>
struct Update {
  static constexpr int kCount = static_cast<int>(Rule::kStates.size());

  Update(const Parameters& p, std::size_t head, const Rule& r)
      : w(p.w, head),
        g(p.g, head),
        states{Floats(p.states[0], head), Floats(p.states[1], head)},
        rule(r) {}
  // This constructor is for kernels: only they know the addresses of a chunk.
  __device__ __forceinline__ Update(const Parameters& p, const Rule& r)
      : w(floats_at(p.w)), g(floats_at(p.g)), rule(r) {
    for (std::size_t k = 0; k < kMostStates; ++k) states[k] = floats_at(p.states[k]);
  }

  __device__ __forceinline__ void one(std::size_t i) const {
    float weight = w.load(i), s[kMostStates] = {};
#pragma unroll
    for (int k = 0; k < kCount; ++k) s[k] = states[k].load(i);
    update_element(rule, weight, g.load(i), s);
    w.store(i, weight);
    if constexpr (kStoresStates) {
#pragma unroll
      for (int k = 0; k < kCount; ++k) states[k].store(i, s[k]);
    }
  }
  __device__ __forceinline__ void four(std::size_t i) const {
    Four ws = w.load_four(i), all[kMostStates] = {};
    const Four gs = g.load_four(i);
#pragma unroll
    for (int k = 0; k < kCount; ++k) all[k] = states[k].load_four(i);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      float s[kMostStates] = {all[0].v[j], all[1].v[j]};
      update_element(rule, ws.v[j], gs.v[j], s);
#pragma unroll
      for (std::size_t k = 0; k < kMostStates; ++k) all[k].v[j] = s[k];
    }
    w.store_four(i, ws);
    if constexpr (kStoresStates) {
#pragma unroll
      for (int k = 0; k < kCount; ++k) states[k].store_four(i, all[k]);
    }
  }

  Floats w, g, states[kMostStates];
  Rule rule;
};

/// The chunk of a piece's parameters that begins at element `begin`.
template <class Rule>
__device__ __forceinline__ Parameters chunk_at(Parameters p, std::size_t begin) {
  p.n = p.n - begin < kChunk ? p.n - begin : kChunk;
  p.w += begin;
  p.g += begin;
#pragma unroll
  for (int k = 0; k < static_cast<int>(Rule::kStates.size()); ++k) p.states[k] += begin;
  return p;
}

}  // namespace trigram::cuda
