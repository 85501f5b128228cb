#include "core/codecs/minmax_uint8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/codecs/entries.h"
#include "core/codecs/host_wire.h"
#include "core/codecs/minmax_uint8_kernels.h"

namespace trigram {
namespace {

using minmax_uint8::Grid;
using minmax_uint8::Range;

bool is_finite(float x) { return x - x == 0; }

// Half-even rounding without libm: from 2^23 on every f32 is an integer, below it the sum with 2^23
// has none but integer bits.
float round_half_even(float x) {
  constexpr float kIntegers = 0x1p23f;
  if (!(x < kIntegers && x > -kIntegers)) return x;
  return x < 0 ? (x - kIntegers) + kIntegers : (x + kIntegers) - kIntegers;
}

}  // namespace

Grid minmax_uint8::grid_of(const Range& range) {
  constexpr float kExact = 0x1p21f;
  Grid grid{};
  grid.scale = 255.0f / (range.max - range.min + 1e-7f);
  grid.upper = round_half_even(range.max * grid.scale);
  grid.lower = grid.upper - 255.0f;
  // As rounding is monotonic, the codes of minimum and maximum bound all others.
  grid.exact = grid.upper <= kExact && grid.lower >= -kExact &&
               round_half_even(range.min * grid.scale) >= grid.lower;
  return grid;
}

void MinMaxUInt8::encode(const Tensor& wire, const Tensor& x) {
  check_host_wire(*this, wire, x);
  const std::size_t n = x.numel();
  const float* values = x.floats().data();
  std::byte* codes = wire.data() + kHeaderBytes;

  Range range = n == 0 ? Range{} : minmax_uint8::find_range(values, n);
  if (!range.finite || !is_finite(range.max - range.min)) {
    range.min = range.max = std::numeric_limits<float>::quiet_NaN();
  }
  std::memset(wire.data(), 0, kHeaderBytes);
  std::memcpy(wire.data(), &range.min, sizeof(float));
  std::memcpy(wire.data() + sizeof(float), &range.max, sizeof(float));

  const Grid grid = minmax_uint8::grid_of(range);
  const std::size_t coded = is_finite(grid.upper) ? n : 0;
  minmax_uint8::quantize(values, coded, grid, reinterpret_cast<std::uint8_t*>(codes));
  std::memset(codes + coded, 0, wire.numel() - kHeaderBytes - coded);
}

void MinMaxUInt8::decode(const Tensor& x, const Tensor& wire) {
  check_host_wire(*this, wire, x);
  Range range;
  std::memcpy(&range.min, wire.data(), sizeof(float));
  std::memcpy(&range.max, wire.data() + sizeof(float), sizeof(float));
  const Grid grid = minmax_uint8::grid_of(range);
  float* values = x.floats().data();
  if (!is_finite(grid.upper)) {  // NaN, or a constant too large for the grid
    std::fill_n(values, x.numel(), range.max);
    return;
  }
  const auto* codes = reinterpret_cast<const std::uint8_t*>(wire.data() + kHeaderBytes);
  minmax_uint8::dequantize(codes, x.numel(), grid, values);
}

CodecEntry minmax_uint8_codec_entry() {
  struct Options {};
  return codec_entry(
      "minmax_uint8",
      "8 bits per element on a uniform grid from the chunk's minimum to its maximum, on which zero "
      "is exact; 32-byte header per chunk (BAGUA, arXiv 2107.01499)",
      FieldTable<Options>{},
      [](const Options&, const CodecKey&) { return std::make_unique<MinMaxUInt8>(); });
}

}  // namespace trigram
