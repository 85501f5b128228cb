// A loop that converts an array vector by vector. There is no include guard, because a kernels file
// includes this file once for each target it is compiled for.

#include <cstddef>
#include <cstring>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trigram::convert_all::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// to[i] = convert(from[i]), where `convert` takes a vector. The last elements, if they fill only
// part of a vector, are padded with zeros.
template <class DTo, class DFrom, class Convert>
HWY_INLINE void ConvertAll(const hn::TFromD<DFrom>* from, std::size_t n, hn::TFromD<DTo>* to,
                           const Convert& convert) {
  const DTo dto;
  const DFrom dfrom;
  const std::size_t lanes = hn::Lanes(dfrom);
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto v0 = convert(hn::LoadU(dfrom, from + i));
    const auto v1 = convert(hn::LoadU(dfrom, from + i + lanes));
    const auto v2 = convert(hn::LoadU(dfrom, from + i + 2 * lanes));
    const auto v3 = convert(hn::LoadU(dfrom, from + i + 3 * lanes));
    hn::StoreU(v0, dto, to + i);
    hn::StoreU(v1, dto, to + i + lanes);
    hn::StoreU(v2, dto, to + i + 2 * lanes);
    hn::StoreU(v3, dto, to + i + 3 * lanes);
  }
  for (; i + lanes <= n; i += lanes) hn::StoreU(convert(hn::LoadU(dfrom, from + i)), dto, to + i);
  if (i == n) return;
  HWY_ALIGN hn::TFromD<DFrom> rest[hn::MaxLanes(DFrom())] = {};
  HWY_ALIGN hn::TFromD<DTo> converted[hn::MaxLanes(DTo())];
  std::memcpy(rest, from + i, (n - i) * sizeof(*from));
  hn::StoreU(convert(hn::LoadU(dfrom, rest)), dto, converted);
  std::memcpy(to + i, converted, (n - i) * sizeof(*to));
}

}  // namespace trigram::convert_all::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
