// Sums over floats that do not depend on the width of the vectors. Without an include guard: a
// kernels file includes it once for each target it is compiled for.

#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trigram::fixed_sums::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Sixteen partial sums in f64, of which one gets the elements 0, 16, 32 ..., whatever the machine's
// vectors; combined as a tree. The square of an f32 is exact in f64, so that fused and separate
// arithmetic agree. The sums overflow for no finite f32s.
class FixedSums {
 public:
  static constexpr std::size_t kWidth = 16;

  HWY_INLINE FixedSums() {
    for (auto& sum : sums_) sum = hn::Zero(F64());
  }
  // Adds the squares of kWidth floats.
  HWY_INLINE void AddSquares(const float* x) {
    for (std::size_t i = 0; i < kVectors; ++i) {
      const auto v = Load(x + i * kLanes);
      sums_[i] = hn::MulAdd(v, v, sums_[i]);
    }
  }
  // Adds the magnitudes of kWidth floats.
  HWY_INLINE void AddMagnitudes(const float* x) {
    for (std::size_t i = 0; i < kVectors; ++i) {
      sums_[i] = hn::Add(sums_[i], hn::Abs(Load(x + i * kLanes)));
    }
  }
  HWY_INLINE double Total() const {
    double sums[kWidth];
    for (std::size_t i = 0; i < kVectors; ++i) hn::StoreU(sums_[i], F64(), sums + i * kLanes);
    for (std::size_t width = kWidth / 2; width > 0; width /= 2) {
      for (std::size_t i = 0; i < width; ++i) sums[i] += sums[i + width];
    }
    return sums[0];
  }

 private:
  using F64 = hn::CappedTag<double, kWidth>;
  static constexpr std::size_t kLanes = hn::MaxLanes(F64()), kVectors = kWidth / kLanes;

  static HWY_INLINE hn::Vec<F64> Load(const float* x) {
    return hn::PromoteTo(F64(), hn::LoadU(hn::Rebind<float, F64>(), x));
  }

  hn::Vec<F64> sums_[kVectors];
};

}  // namespace trigram::fixed_sums::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
