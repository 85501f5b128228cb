#include "cuda/kernels/optimizers.h"

#include "cuda/kernels/groups.h"
#include "cuda/kernels/rounding.h"

namespace trigram::cuda {
namespace {

// The update rules for one element. kUsesM and kUsesV tell whether a rule uses the first and second
// moment; moments that it does not use are neither read nor written.

struct Sgd {
  static constexpr bool kUsesM = false, kUsesV = false;
  __device__ __forceinline__ void operator()(float& w, float g, float&, float&) const {
    w = sub(w, mul(lr, add(g, mul(weight_decay, w))));
  }
  float lr, weight_decay;
};

struct Momentum {
  static constexpr bool kUsesM = true, kUsesV = false;
  __device__ __forceinline__ void operator()(float& w, float g, float& m, float&) const {
    m = add(mul(momentum, m), add(g, mul(weight_decay, w)));
    w = sub(w, mul(lr, m));
  }
  float lr, momentum, weight_decay;
};

struct Adam {
  static constexpr bool kUsesM = true, kUsesV = true;
  explicit Adam(const AdamStep& s)
      : step(s),
        one_minus_beta1(1 - s.beta1),
        one_minus_beta2(1 - s.beta2),
        decay(s.lr * s.decoupled_weight_decay) {}
  __device__ __forceinline__ void operator()(float& w, float g, float& m, float& v) const {
    const float gradient = add(g, mul(step.weight_decay, w));
    m = add(mul(step.beta1, m), mul(one_minus_beta1, gradient));
    v = add(mul(step.beta2, v), mul(one_minus_beta2, mul(gradient, gradient)));
    const float root = __fsqrt_rn(div(v, step.correction2));
    const float update = div(div(m, step.correction1), add(root, step.eps));
    w = sub(sub(w, mul(decay, w)), mul(step.lr, update));
  }
  AdamStep step;
  float one_minus_beta1, one_minus_beta2, decay;
};

template <class Rule>
struct Update {
  Update(const Parameters& p, std::size_t head, const Rule& r)
      : w(p.w, head), g(p.g, head), m(p.m, head), v(p.v, head), rule(r) {}
  // This constructor is for kernels: only they know the addresses of a chunk.
  __device__ __forceinline__ Update(const Parameters& p, const Rule& r) : rule(r) {
    const auto view = [](float* values) {
      Floats vector;
      vector.data = values;
      vector.aligned = reinterpret_cast<std::uintptr_t>(values) % sizeof(float4) == 0;
      return vector;
    };
    w = view(p.w);
    g = view(p.g);
    m = view(p.m);
    v = view(p.v);
  }

  __device__ __forceinline__ void one(std::size_t i) const {
    float wi = w.load(i), mi = Rule::kUsesM ? m.load(i) : 0, vi = Rule::kUsesV ? v.load(i) : 0;
    rule(wi, g.load(i), mi, vi);
    w.store(i, wi);
    if (Rule::kUsesM) m.store(i, mi);
    if (Rule::kUsesV) v.store(i, vi);
  }
  __device__ __forceinline__ void four(std::size_t i) const {
    Four ws = w.load_four(i), ms = {}, vs = {};
    const Four gs = g.load_four(i);
    if (Rule::kUsesM) ms = m.load_four(i);
    if (Rule::kUsesV) vs = v.load_four(i);
    for (int j = 0; j < 4; ++j) rule(ws.v[j], gs.v[j], ms.v[j], vs.v[j]);
    w.store_four(i, ws);
    if (Rule::kUsesM) m.store_four(i, ms);
    if (Rule::kUsesV) v.store_four(i, vs);
  }

  Floats w, g, m, v;
  Rule rule;
};

template <class Rule>
void update(cudaStream_t stream, const Parameters& p, const Rule& rule) {
  const Cut cut = cut_for(p.n, p.w);
  launch_groups(stream, cut, Update<Rule>(p, cut.head, rule));
}

// Blocks take chunks in turn. A block finds the piece of a chunk by bisection.
template <class Rule>
__global__ void pieces_kernel(Pieces all, Rule rule) {
  for (std::size_t chunk = blockIdx.x; chunk < all.chunks; chunk += gridDim.x) {
    unsigned low = 0, high = all.count;
    while (high - low > 1) {
      const unsigned middle = (low + high) / 2;
      if (all.pieces[middle].first_chunk <= chunk) low = middle;
      else high = middle;
    }
    const Piece& piece = all.pieces[low];
    Parameters p = piece.parameters;
    const std::size_t begin = (chunk - piece.first_chunk) * kChunk;
    p.n = p.n - begin < kChunk ? p.n - begin : kChunk;
    p.w += begin;
    p.g += begin;
    if (Rule::kUsesM) p.m += begin;
    if (Rule::kUsesV) p.v += begin;
    for_each_group(Cut{p.n, 0}, threadIdx.x, blockDim.x, Update<Rule>(p, rule));
  }
}

template <class Rule>
void update(cudaStream_t stream, const Pieces& pieces, const Rule& rule) {
  if (pieces.chunks == 0) return;
  static const unsigned resident = resident_blocks(pieces_kernel<Rule>);
  launch(stream, {.grid = blocks_for(pieces.chunks * kBlock, resident)}, pieces_kernel<Rule>,
         pieces, rule);
}

template <class Operands>
void update_sgd(cudaStream_t stream, const SgdStep& step, const Operands& operands) {
  if (step.momentum == 0) return update(stream, operands, Sgd{step.lr, step.weight_decay});
  update(stream, operands, Momentum{step.lr, step.momentum, step.weight_decay});
}

}  // namespace

void sgd(cudaStream_t stream, const SgdStep& step, const Parameters& parameters) {
  update_sgd(stream, step, parameters);
}
void sgd(cudaStream_t stream, const SgdStep& step, const Pieces& pieces) {
  update_sgd(stream, step, pieces);
}
void adam(cudaStream_t stream, const AdamStep& step, const Parameters& parameters) {
  update(stream, parameters, Adam(step));
}
void adam(cudaStream_t stream, const AdamStep& step, const Pieces& pieces) {
  update(stream, pieces, Adam(step));
}

}  // namespace trigram::cuda
