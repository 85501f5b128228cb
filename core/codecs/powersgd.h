#pragma once

#include "core/config/fields.h"
#include "core/math/low_rank.h"

namespace trigram::powersgd {

struct Options {
  std::int64_t rank = 2;
};
FieldTable<Options> option_fields();

/// Number of elements of a chunk's two factors.
constexpr std::size_t factor_elements(std::size_t rank, std::size_t numel) {
  const MatrixShape shape = nearly_square(numel);
  return rank * (shape.rows + shape.cols);
}
/// True if the factors are the code of a chunk, because they have fewer elements than the chunk;
/// else the code is the chunk itself.
constexpr bool has_factors(std::size_t rank, std::size_t numel) {
  return factor_elements(rank, numel) < numel;
}

}  // namespace trigram::powersgd
