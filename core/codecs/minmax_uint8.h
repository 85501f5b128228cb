#pragma once

#include "core/codec.h"

namespace trigram {

/// MinMaxUInt8, the 8-bit code of BAGUA (arXiv 2107.01499; bagua_kernels.cu), on host memory. A
/// chunk is the input of one call, with minimum min and maximum max. In f32 arithmetic:
///
///   scale = 255 / (max - min + 1e-7)
///   upper = rint(max * scale)    lower = upper - 255          (rint: to nearest, ties to even)
///   code  = clamp(min(rint(x * scale), upper) - lower, 0, 255)
///   x^    = (code + lower) / scale
///
/// The clamp to 0 .. 255 is our addition: without it a constant or narrow chunk overflows its code.
/// The grid points are multiples of 1/scale, so zero is exact, and |x^ - x| <= (max - min + 1e-7) /
/// 510 up to rounding.
///
/// The formula leaves two cases undefined. A chunk with a NaN or an infinity, or whose max - min
/// overflows, decodes to NaN everywhere, so that a diverged run stays visible. A constant chunk so
/// large that max * scale overflows (beyond 1.3e29) decodes to its value.
///
/// The cost model counts the kernel launches of BAGUA's code (`compress_float_to_uint8_host`,
/// `array_min_max`, `decompress_uint8_to_float_host`, `reduce_chunk_inplace_host` of
/// bagua_kernels.cu). Encoding launches two cub reductions per chunk, from a loop on the host, then
/// one kernel over all chunks. Decoding launches one kernel over all chunks, and one more for their
/// mean.
///
/// Wire: min and max as f32, 24 zero bytes, then the codes, padded with zeros to a multiple of 32.
class MinMaxUInt8 final : public Codec {
 public:
  static constexpr std::size_t kHeaderBytes = 32;
  static constexpr CodecLaunches kLaunches{.encode_call = 1,
                                           .encode_vector = 2,
                                           .decode_call = 1,
                                           .decode_vector = 0,
                                           .fused_mean = true};
  static std::size_t wire_size(std::size_t numel) { return kHeaderBytes + (numel + 31) / 32 * 32; }

  std::size_t wire_bytes(std::size_t numel) const override { return wire_size(numel); }
  CodecLaunches launches() const override { return kLaunches; }
  void encode(const Tensor& wire, const Tensor& x) override;
  void decode(const Tensor& x, const Tensor& wire) override;
};

}  // namespace trigram
