#include "core/device/norm_order.h"
#include "cuda/kernels/block_sum.h"
#include "cuda/kernels/update_groups.h"

namespace trigram::cuda {
namespace {

static_assert(kBlock == norm_order::kThreads);

template <class Rule>
__device__ __forceinline__ Rule rule_for(const Rule& rule, const NormedPiece& piece) {
  return piece.is_vector ? rule.for_vectors() : rule;
}

/// The squares of weights and of a rule's elements, summed by one thread.
template <class Rule>
struct Squares {
  static constexpr int kCount = static_cast<int>(Rule::kStates.size());

  __device__ __forceinline__ void add(int j, float wi, float gi, float* s) {
    const auto u = static_cast<double>(measure_element(rule, wi, gi, s));
    weights[j] += __dmul_rn(static_cast<double>(wi), static_cast<double>(wi));
    updates[j] += __dmul_rn(u, u);
  }
  __device__ __forceinline__ void one(std::size_t i, int j) {
    float s[kMostStates] = {};
#pragma unroll
    for (int k = 0; k < kCount; ++k) s[k] = states[k].load(i);
    add(j, w.load(i), g.load(i), s);
    if constexpr (Rule::kMeasureChangesStates) {
#pragma unroll
      for (int k = 0; k < kCount; ++k) states[k].store(i, s[k]);
    }
  }
  __device__ __forceinline__ void four(std::size_t i) {
    const Four ws = w.load_four(i), gs = g.load_four(i);
    Four all[kMostStates] = {};
#pragma unroll
    for (int k = 0; k < kCount; ++k) all[k] = states[k].load_four(i);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      float s[kMostStates] = {all[0].v[j], all[1].v[j]};
      add(j, ws.v[j], gs.v[j], s);
#pragma unroll
      for (std::size_t k = 0; k < kMostStates; ++k) all[k].v[j] = s[k];
    }
    if constexpr (Rule::kMeasureChangesStates) {
#pragma unroll
      for (int k = 0; k < kCount; ++k) states[k].store_four(i, all[k]);
    }
  }

  Rule rule;
  Floats w, g, states[kMostStates];
  double weights[4] = {}, updates[4] = {};
};

/// One block measures one range of a tensor, in the order of norm_order.h: it adds the squares of
/// the weights to all.sums[2 * range], and those of the rule's elements to the sum after it.
template <class Rule>
__global__ void __launch_bounds__(kBlock) measure_kernel(NormedPieces all, Rule common) {
  __shared__ double shared[kBlock / 32];
  const std::size_t range = blockIdx.x;
  const NormedPiece& piece = all.pieces[last_before(
      all.count, range, [&](unsigned i) { return all.pieces[i].first_range; })];
  const Parameters& p = piece.piece.parameters;
  const std::size_t length = norm_order::range_of(p.n);
  const std::size_t begin = (range - piece.first_range) * length;
  const std::size_t end = begin + length < p.n ? begin + length : p.n;
  Squares<Rule> own{rule_for(common, piece),
                    floats_at(p.w),
                    floats_at(p.g),
                    {floats_at(p.states[0]), floats_at(p.states[1])}};
  for (std::size_t i = begin + 4 * threadIdx.x; i < end; i += norm_order::kSums) {
    if (i + 4 <= end) {
      own.four(i);
    } else {
      // Constant loop bounds make the indices constants, so that the sums stay in registers.
#pragma unroll
      for (int j = 0; j < 4; ++j)
        if (i + static_cast<std::size_t>(j) < end) own.one(i + static_cast<std::size_t>(j), j);
    }
  }
  const double weights = block_sum<kBlock>(
      (own.weights[0] + own.weights[2]) + (own.weights[1] + own.weights[3]), shared);
  const double updates = block_sum<kBlock>(
      (own.updates[0] + own.updates[2]) + (own.updates[1] + own.updates[3]), shared);
  if (threadIdx.x > 0) return;
  all.sums[2 * range] = weights;
  all.sums[2 * range + 1] = updates;
}

/// One block computes the factor of one tensor.
template <class Rule>
__global__ void __launch_bounds__(kBlock) trust_kernel(NormedPieces all, Rule common) {
  __shared__ double shared[kBlock / 32];
  const NormedPiece& piece = all.pieces[blockIdx.x];
  const std::size_t next =
      blockIdx.x + 1 < all.count ? all.pieces[blockIdx.x + 1].first_range : all.ranges;
  double weights = 0, updates = 0;
  for (std::size_t range = piece.first_range + threadIdx.x; range < next; range += kBlock) {
    weights += all.sums[2 * range];
    updates += all.sums[2 * range + 1];
  }
  weights = block_sum<kBlock>(weights, shared);
  updates = block_sum<kBlock>(updates, shared);
  if (threadIdx.x == 0)
    all.trusts[blockIdx.x] =
        rule_for(common, piece).trust(__dsqrt_rn(weights), __dsqrt_rn(updates));
}

/// The second half of a rule, as an element-wise rule.
template <class Rule>
struct Applied {
  static constexpr auto kStates = Rule::kStates;
  Rule rule;
  float trust;
  template <class... States>
  __device__ __forceinline__ void operator()(float& w, float g, States&... states) const {
    rule.apply(trust, w, g, states...);
  }
};

template <class Rule>
__global__ void __launch_bounds__(kBlock) apply_kernel(NormedPieces all, Rule common) {
  for (std::size_t chunk = blockIdx.x; chunk < all.chunks; chunk += gridDim.x) {
    const unsigned index =
        last_before(all.count, chunk, [&](unsigned i) { return all.pieces[i].piece.first_chunk; });
    const NormedPiece& piece = all.pieces[index];
    const Parameters p =
        chunk_at<Rule>(piece.piece.parameters, (chunk - piece.piece.first_chunk) * kChunk);
    const Applied<Rule> rule{rule_for(common, piece), all.trusts[index]};
    for_each_group(Cut{p.n, 0}, threadIdx.x, blockDim.x,
                   Update<Applied<Rule>, Rule::kApplyChangesStates>(p, rule));
  }
}

template <class Rule>
void launch_each(cudaStream_t stream, const NormedPieces& all, const Rule& rule) {
  static const unsigned resident = resident_blocks(apply_kernel<Rule>);
  launch(stream, {.grid = static_cast<unsigned>(all.ranges), .block = kBlock}, measure_kernel<Rule>,
         all, rule);
  launch(stream, {.grid = all.count, .block = kBlock}, trust_kernel<Rule>, all, rule);
  launch(stream, {.grid = blocks_for(all.chunks * kBlock, resident), .block = kBlock},
         apply_kernel<Rule>, all, rule);
}

}  // namespace

void update_each(cudaStream_t stream, const TensorRule& rule, const NormedPieces& pieces) {
  if (pieces.count == 0) return;
  std::visit([&](const auto& r) { launch_each(stream, pieces, r); }, rule);
}

}  // namespace trigram::cuda
