#pragma once

#include <cstddef>
#include <cstdint>

/// The loops of the codec `sign`, compiled for every vector instruction set of the architecture and
/// chosen at run time. All give the same bits.
namespace trigram::sign {

/// Sets bit i mod 8 of bits[i / 8] where x[i] < 0 and clears all others of the (n + 7) / 8 bytes.
/// Returns the sum of the squares: not finite if and only if one of x is not.
double pack_and_sum_squares(const float* x, std::size_t n, std::uint8_t* bits);
/// The same, with the sum of the magnitudes.
double pack_and_sum_magnitudes(const float* x, std::size_t n, std::uint8_t* bits);
/// The same, with the sums of what is not below zero and of what is.
struct SumsBySign {
  double positives, negatives;
};
SumsBySign pack_and_sum_by_sign(const float* x, std::size_t n, std::uint8_t* bits);

/// What signs stand for.
struct Levels {
  float plus, minus;
};
/// x[i] = minus where bit i is set, plus elsewhere.
void unpack(const std::uint8_t* bits, std::size_t n, Levels levels, float* x);

}  // namespace trigram::sign
