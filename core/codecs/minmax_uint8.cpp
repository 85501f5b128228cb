#include "core/codecs/minmax_uint8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/codec.h"
#include "core/codecs/kernels.h"
#include "core/codecs/registry.h"

namespace trigram {

using minmax_uint8::Grid;
using minmax_uint8::Range;

void MinMaxUInt8::encode(const Tensor& wire, const Tensor& x) {
  check_wire(*this, wire, x);
  const std::size_t n = x.numel();
  const float* values = x.floats().data();
  std::byte* codes = wire.data() + kHeaderBytes;

  const Range range =
      minmax_uint8::wire_range(n == 0 ? Range{} : minmax_uint8::find_range(values, n));
  std::memset(wire.data(), 0, kHeaderBytes);
  std::memcpy(wire.data(), &range.min, sizeof(float));
  std::memcpy(wire.data() + sizeof(float), &range.max, sizeof(float));

  const Grid grid = minmax_uint8::grid_of(range);
  const std::size_t coded = grid.has_codes() ? n : 0;
  minmax_uint8::quantize(values, coded, grid, reinterpret_cast<std::uint8_t*>(codes));
  std::memset(codes + coded, 0, wire.numel() - kHeaderBytes - coded);
}

void MinMaxUInt8::decode(const Tensor& x, const Tensor& wire) {
  check_wire(*this, wire, x);
  Range range;
  std::memcpy(&range.min, wire.data(), sizeof(float));
  std::memcpy(&range.max, wire.data() + sizeof(float), sizeof(float));
  const Grid grid = minmax_uint8::grid_of(range);
  float* values = x.floats().data();
  if (!grid.has_codes()) {
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
