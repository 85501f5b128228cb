#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/config/fields.h"
#include "core/config/option_type.h"

namespace trigram {

/// The option of sparse codecs: the fraction of the elements that is sent, within (0, 1].
inline OptionType<double> density_kind() { return number(1e-9, 1); }

/// Returns ceil(density * numel), but at least 1 for a non-empty vector. A product that differs
/// from an integer only by rounding counts as that integer.
inline std::size_t kept_count(double density, std::size_t numel) {
  if (numel == 0) return 0;
  const double exact = density * static_cast<double>(numel);
  return static_cast<std::size_t>(std::ceil(exact * (1 - 0x1p-48)));
}

// The options of the codecs that send a fraction of the elements.

namespace topk {
struct Options {
  double density = 0.01;
};
FieldTable<Options> option_fields();
/// Bytes per element on the wire: the index as u32 and the value as f32.
inline constexpr std::size_t kElementBytes = 8;
/// The indices of the elements on a wire in host memory, in ascending order, and the elements'
/// values in the order of their indices.
std::vector<std::uint32_t> wire_indices(std::span<const std::byte> wire);
std::vector<float> wire_values(std::span<const std::byte> wire);
}  // namespace topk

namespace randk {
struct Options {
  double density = 0.01;
  bool unbiased = true;
};
FieldTable<Options> option_fields();
/// Bytes of the seed (u64), which precedes the values.
inline constexpr std::size_t kHeaderBytes = 8;
/// The factor by which an unbiased code multiplies the k of n elements that it sends.
constexpr float scale(std::size_t n, std::size_t k) {
  return static_cast<float>(static_cast<double>(n) / static_cast<double>(k));
}
}  // namespace randk

}  // namespace trigram
