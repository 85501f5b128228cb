#pragma once

#include <cstddef>
#include <cstdint>

#include "core/codecs/four_bit_math.h"
#include "core/codecs/minmax_uint8_grid.h"

/// The loops of MinMaxUInt8, compiled for every vector instruction set of the architecture and
/// chosen at run time. All versions give the same bits: minimum and maximum do not depend on the
/// order, and the rest works element by element.
namespace trigram::minmax_uint8 {

/// The range of n > 0 values; -0 counts as +0. `min` and `max` are meaningless unless `finite`.
Range find_range(const float* x, std::size_t n);

void quantize(const float* x, std::size_t n, const Grid& grid, std::uint8_t* codes);
void dequantize(const std::uint8_t* codes, std::size_t n, const Grid& grid, float* x);

}  // namespace trigram::minmax_uint8

/// The loops of the codec `sign`, compiled for every vector instruction set of the architecture and
/// chosen at run time. All versions give the same bits.
namespace trigram::sign {

/// Sets bit i mod 8 of bits[i / 8] if x[i] < 0 and clears all other bits of the (n + 7) / 8 bytes.
/// Returns the sum of the squares, which is finite if and only if all x are.
double pack_and_sum_squares(const float* x, std::size_t n, std::uint8_t* bits);
/// Sets the bits in the same way, but returns the sum of the magnitudes.
double pack_and_sum_magnitudes(const float* x, std::size_t n, std::uint8_t* bits);
/// Sets the bits in the same way, but returns two sums: of the non-negative and of the negative
/// elements.
struct SumsBySign {
  double positives, negatives;
};
SumsBySign pack_and_sum_by_sign(const float* x, std::size_t n, std::uint8_t* bits);

/// The values that the two signs decode to.
struct Levels {
  float plus, minus;
};
/// x[i] = minus if bit i is set, else plus.
void unpack(const std::uint8_t* bits, std::size_t n, Levels levels, float* x);

}  // namespace trigram::sign

/// The loops of the codecs fp16 and bf16. Highway compiles each loop for several instruction sets
/// and calls the best one that the processor supports. Results equal those of
/// core/element_types.h bit for bit. Arrays have n elements and may be unaligned.
namespace trigram::sixteen_bit {

void f16_from_f32(const float* x, std::size_t n, std::uint16_t* codes);
void f32_from_f16(const std::uint16_t* codes, std::size_t n, float* x);
void bf16_from_f32(const float* x, std::size_t n, std::uint16_t* codes);
void f32_from_bf16(const std::uint16_t* codes, std::size_t n, float* x);

}  // namespace trigram::sixteen_bit

/// The loops of the codecs whose blocks of elements share a scale, over one block, compiled for
/// every vector instruction set of the architecture and chosen at run time. All versions give the
/// same bits. `packed` has the codes of several elements in a byte. Loops that take `inverse`
/// encode x * inverse, and those that take `step` multiply what a code stands for by it.
namespace trigram::four_bit {

void encode(const float* x, std::size_t n, const Exponents& exponents, std::uint8_t* packed);
void decode(const std::uint8_t* packed, std::size_t n, const Exponents& exponents, float* x);
void encode_integers(const float* x, std::size_t n, float inverse, std::uint8_t* packed);
void decode_integers(const std::uint8_t* packed, std::size_t n, float step, float* x);

}  // namespace trigram::four_bit
namespace trigram::int2 {

void encode(const float* x, std::size_t n, float inverse, std::uint8_t* packed);
void decode(const std::uint8_t* packed, std::size_t n, float step, float* x);

}  // namespace trigram::int2
namespace trigram::fp8 {

void encode_e4m3(const float* x, std::size_t n, float inverse, std::uint8_t* codes);
void decode_e4m3(const std::uint8_t* codes, std::size_t n, float step, float* x);
void encode_e5m2(const float* x, std::size_t n, float inverse, std::uint8_t* codes);
void decode_e5m2(const std::uint8_t* codes, std::size_t n, float step, float* x);

}  // namespace trigram::fp8

/// The products of the codec dct_topk, compiled in the same way. Matrices have rows of 64 elements
/// in memory.
namespace trigram::dct_topk {

/// c = a b for a of `rows` x `inner` elements and b with 64 columns. Every sum is in the order of
/// the inner index, and begins at 0.
void multiply(std::size_t rows, std::size_t inner, const float* a, const float* b, float* c);
/// The same; it leaves out terms whose element of `a` is 0. The result is the same if b is finite.
void multiply_sparse(std::size_t rows, std::size_t inner, const float* a, const float* b, float* c);

}  // namespace trigram::dct_topk

/// Loops over magnitudes, compiled for every vector instruction set of the architecture and chosen
/// at run time. A magnitude is the bit pattern of |x|. Magnitudes are
/// ordered like absolute values, with NaNs above infinity.
namespace trigram::magnitudes {

constexpr std::uint32_t kInfinity = 0x7F800000;

/// The largest magnitude; 0 if n is 0.
std::uint32_t largest(const float* x, std::size_t n);
/// Writes the indices of all elements whose magnitude is at least `bound`, in ascending order, and
/// returns their number. `indices` has space for n indices.
std::size_t at_least(std::uint32_t bound, const float* x, std::size_t n, std::uint32_t* indices);

}  // namespace trigram::magnitudes
