#pragma once

// The options and the wire layouts of codecs, which the host and accelerators share.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/config/fields.h"
#include "core/config/option_type.h"
#include "core/math/low_rank.h"

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

namespace sign {
enum class Scale { l2, l1_mean, one, means };

struct Options {
  Scale scale = Scale::l2;
};
FieldTable<Options> option_fields();

/// The scale precedes the signs, as f32; for `means` there are two.
constexpr std::size_t header_bytes(Scale scale) {
  return (scale == Scale::means ? 2 : 1) * sizeof(float);
}
}  // namespace sign

/// Of the codecs whose blocks of elements share a scale: e3m0, int4, int2, fp8_e4m3 and fp8_e5m2.
namespace scaled_blocks {
struct Options {
  std::int64_t block = 512;
  std::int64_t hadamard = 1;  // elements that are transformed together (core/codecs/hadamard.h)
};
/// `codes_per_byte`: elements whose codes share a byte.
FieldTable<Options> option_fields(std::size_t codes_per_byte);
}  // namespace scaled_blocks

namespace chunk_topk {
struct Options {
  std::int64_t keep = 64;
};
FieldTable<Options> option_fields();
}  // namespace chunk_topk

namespace dct_topk {
enum class Mean { all, senders };

struct Options {
  std::int64_t keep = 32;
  Mean mean = Mean::all;
};
FieldTable<Options> option_fields();
}  // namespace dct_topk

namespace powersgd {
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
}  // namespace powersgd

}  // namespace trigram
