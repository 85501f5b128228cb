#pragma once

#include "core/config/fields.h"
#include "core/math/matrix_shape.h"

namespace trigram::powersgd {

struct Options {
  std::int64_t rank = 2;
};
FieldTable<Options> option_fields();

/// Elements of the two factors of a chunk.
constexpr std::size_t factor_elements(std::size_t rank, std::size_t numel) {
  const MatrixShape shape = nearly_square(numel);
  return rank * (shape.rows + shape.cols);
}
/// Whether these, and not the chunk itself, are its code: where they are fewer.
constexpr bool has_factors(std::size_t rank, std::size_t numel) {
  return factor_elements(rank, numel) < numel;
}

}  // namespace trigram::powersgd
