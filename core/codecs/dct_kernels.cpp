#include "core/codecs/dct_topk_math.h"
#include "core/codecs/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/codecs/dct_kernels.cpp"
#include "hwy/foreach_target.h"  // compiles this file once per target
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trigram::dct_topk::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::CappedTag<float, 16>;
constexpr std::size_t kLanes = hn::MaxLanes(F32());

// Vectors hold neighbouring columns, so that every sum has the same order on all targets. A
// product and a sum are two operations, each of which rounds.
template <bool sparse>
HWY_INLINE void MultiplyRows(std::size_t rows, std::size_t inner, const float* a, const float* b,
                             float* c) {
  const F32 d;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < kSide; column += 4 * kLanes) {
      auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
      for (std::size_t i = 0; i < inner; ++i) {
        const float factor = a[row * kSide + i];
        if (sparse && factor == 0) continue;
        const auto f = hn::Set(d, factor);
        const float* const from = b + i * kSide + column;
        s0 = hn::Add(s0, hn::Mul(f, hn::LoadU(d, from)));
        s1 = hn::Add(s1, hn::Mul(f, hn::LoadU(d, from + kLanes)));
        s2 = hn::Add(s2, hn::Mul(f, hn::LoadU(d, from + 2 * kLanes)));
        s3 = hn::Add(s3, hn::Mul(f, hn::LoadU(d, from + 3 * kLanes)));
      }
      float* const to = c + row * kSide + column;
      hn::StoreU(s0, d, to);
      hn::StoreU(s1, d, to + kLanes);
      hn::StoreU(s2, d, to + 2 * kLanes);
      hn::StoreU(s3, d, to + 3 * kLanes);
    }
  }
}

void Multiply(std::size_t rows, std::size_t inner, const float* a, const float* b, float* c) {
  MultiplyRows<false>(rows, inner, a, b, c);
}
void MultiplySparse(std::size_t rows, std::size_t inner, const float* a, const float* b, float* c) {
  MultiplyRows<true>(rows, inner, a, b, c);
}

}  // namespace trigram::dct_topk::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trigram::dct_topk {

HWY_EXPORT(Multiply);
HWY_EXPORT(MultiplySparse);

void multiply(std::size_t rows, std::size_t inner, const float* a, const float* b, float* c) {
  HWY_DYNAMIC_DISPATCH(Multiply)(rows, inner, a, b, c);
}
void multiply_sparse(std::size_t rows, std::size_t inner, const float* a, const float* b,
                     float* c) {
  HWY_DYNAMIC_DISPATCH(MultiplySparse)(rows, inner, a, b, c);
}

}  // namespace trigram::dct_topk
#endif
