#pragma once

#include "core/config/fields.h"
#include "core/math/low_rank.h"

namespace trigram::powersgd {

struct Options {
  std::int64_t rank = 2;
};
FieldTable<Options> option_fields();

/// Number of elements in the two factors of a chunk of `numel` elements.
constexpr std::size_t factor_elements(std::size_t rank, std::size_t numel) {
  const MatrixShape shape = nearly_square(numel);
  return rank * (shape.rows + shape.cols);
}
/// True if a chunk is encoded as its factors, because they have fewer elements than the chunk; else
/// the code is the chunk itself.
constexpr bool has_factors(std::size_t rank, std::size_t numel) {
  return factor_elements(rank, numel) < numel;
}

}  // namespace trigram::powersgd
