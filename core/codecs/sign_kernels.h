#pragma once

#include <cstddef>
#include <cstdint>

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
