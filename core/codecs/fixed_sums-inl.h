// Sums of floats whose result does not depend on the vector width. There is no include guard,
// because a kernels file includes this file once for each target it is compiled for.

#include <cstddef>

#include "core/codecs/fixed_sums.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trigram::fixed_sums::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Sums in the order of core/codecs/fixed_sums.h. The square of an f32 is exact in f64, so that
// fused and separate multiply-adds agree. The sums do not overflow for finite f32s.
class FixedSums {
 public:
  static constexpr std::size_t kWidth = kLanes;

  HWY_INLINE FixedSums() { Clear(); }
  // Adds the squares of kWidth floats.
  HWY_INLINE void AddSquares(const float* x) {
    for (std::size_t i = 0; i < kVectors; ++i) {
      const auto v = Load(x + i * kVector);
      sums_[i] = hn::MulAdd(v, v, sums_[i]);
    }
    Count();
  }
  // Adds the magnitudes of kWidth floats.
  HWY_INLINE void AddMagnitudes(const float* x) {
    for (std::size_t i = 0; i < kVectors; ++i) {
      sums_[i] = hn::Add(sums_[i], hn::Abs(Load(x + i * kVector)));
    }
    Count();
  }
  // AddPositives adds only the non-negative of kWidth floats, AddNegatives only the negative ones.
  HWY_INLINE void AddPositives(const float* x) {
    for (std::size_t i = 0; i < kVectors; ++i) {
      const auto v = Load(x + i * kVector);
      sums_[i] = hn::Add(sums_[i], hn::IfThenZeroElse(hn::Lt(v, hn::Zero(F64())), v));
    }
    Count();
  }
  HWY_INLINE void AddNegatives(const float* x) {
    for (std::size_t i = 0; i < kVectors; ++i) {
      const auto v = Load(x + i * kVector);
      sums_[i] = hn::Add(sums_[i], hn::IfThenElseZero(hn::Lt(v, hn::Zero(F64())), v));
    }
    Count();
  }
  HWY_INLINE double Total() {
    if (groups_ > 0) EndTile();
    return tree_sum(tile_sums_);
  }

 private:
  using F64 = hn::CappedTag<double, kWidth>;
  static constexpr std::size_t kVector = hn::MaxLanes(F64()), kVectors = kWidth / kVector;

  static HWY_INLINE hn::Vec<F64> Load(const float* x) {
    return hn::PromoteTo(F64(), hn::LoadU(hn::Rebind<float, F64>(), x));
  }
  HWY_INLINE void Clear() {
    for (auto& sum : sums_) sum = hn::Zero(F64());
    groups_ = 0;
  }
  HWY_INLINE void Count() {
    if (++groups_ == kTile / kWidth) EndTile();
  }
  HWY_INLINE void EndTile() {
    double sums[kWidth];
    for (std::size_t i = 0; i < kVectors; ++i) hn::StoreU(sums_[i], F64(), sums + i * kVector);
    tile_sums_[tiles_++ % kLanes] += tree_sum(sums);
    Clear();
  }

  hn::Vec<F64> sums_[kVectors];
  std::size_t groups_ = 0, tiles_ = 0;
  double tile_sums_[kLanes] = {};
};

}  // namespace trigram::fixed_sums::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
