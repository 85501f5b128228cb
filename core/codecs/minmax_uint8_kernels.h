#pragma once

#include <cstddef>
#include <cstdint>

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
