#pragma once

#include <cstddef>

#include "experiments/tune/search_space.h"

namespace trigram {

/// The digits of `index` in `base`, mirrored at the point: 1, 2, 3 in base 2 give 1/2, 1/4, 3/4.
double radical_inverse(std::size_t index, std::size_t base);

/// The point with this index (from 1) of Halton's sequence: dimension i has the radical inverse in
/// the i-th prime number as its base. Its points cover the unit cube more evenly than random ones
/// (Halton, "On the efficiency of certain quasi-random sequences", 1960, doi:10.1007/BF01386213).
/// `shift` is added to every point modulo 1, which gives other sequences that are as even.
Position halton_point(std::size_t index, const Position& shift);

}  // namespace trigram
