#pragma once

#include <cmath>
#include <cstddef>

#include "core/config/option_type.h"

namespace trigram {

/// The option of sparse codecs: the fraction of the elements that is sent, within (0, 1].
inline OptionType<double> density_kind() { return number(1e-9, 1); }

/// Returns ceil(density * numel), but at least 1 for a non-empty vector. A product that differs
/// from an integer only by rounding counts as that integer.
inline std::size_t kept(double density, std::size_t numel) {
  if (numel == 0) return 0;
  const double exact = density * static_cast<double>(numel);
  return static_cast<std::size_t>(std::ceil(exact * (1 - 0x1p-48)));
}

}  // namespace trigram
