#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <variant>

#include "core/check.h"
#include "core/tensor.h"
#include "core/update_rules.h"

/// Checks that devices make on their operands; each throws InvariantError.
namespace trigram {

inline void require_values(const Tensor& x) {
  TRIGRAM_CHECK(!x.is_phantom(), "a phantom of {} elements has no values to work on", x.numel());
}

/// The values of an operand, which must be f32.
inline float* floats(const Tensor& x) {
  require_values(x);
  TRIGRAM_CHECK(x.dtype() == DType::f32, "this operation works on f32 only");
  return reinterpret_cast<float*>(x.data());
}

inline void require_equal_length(const Tensor& a, const Tensor& b) {
  TRIGRAM_CHECK(a.numel() == b.numel(), "operands of {} and {} elements", a.numel(), b.numel());
}

inline void require_bytes(const Tensor& x, std::size_t bytes) {
  TRIGRAM_CHECK(x.nbytes() == bytes, "{} bytes for a tensor of {}", bytes, x.nbytes());
}

/// The addresses of the states of an update rule, each of the length of the weights w; null beyond
/// the number of its states. `Rules` is UpdateRule or TensorRule.
template <class Rules>
std::array<float*, kMostStates> state_operands(const Rules& rule, const Tensor& w,
                                               std::span<const Tensor> states) {
  const std::span<const char* const> names =
      std::visit([](const auto& r) { return std::span<const char* const>(r.kStates); }, rule);
  TRIGRAM_CHECK(states.size() == names.size(), "{} tensors for the {} states of an update rule",
                states.size(), names.size());
  std::array<float*, kMostStates> addresses = {};
  for (std::size_t i = 0; i < names.size(); ++i) {
    TRIGRAM_CHECK(states[i].numel() == w.numel(), "the state \"{}\" has {} elements, the weight {}",
                  names[i], states[i].numel(), w.numel());
    addresses[i] = floats(states[i]);
  }
  return addresses;
}

/// Checks that the tensors cover x in order and without gaps.
inline void require_cover(const Tensor& x, std::span<const TensorPlace> tensors) {
  std::size_t end = 0;
  for (const TensorPlace& t : tensors) {
    TRIGRAM_CHECK(t.begin == end, "a tensor at element {} in place of {}", t.begin, end);
    end += t.numel;
  }
  TRIGRAM_CHECK(end == x.numel(), "tensors of {} elements in a vector of {}", end, x.numel());
}

/// The values of an f32 operand. Throws InvariantError unless it has values, and at least `numel`
/// of them.
inline float* operand(const Tensor& x, std::size_t numel) {
  TRIGRAM_CHECK(!x.is_phantom() && x.dtype() == DType::f32 && x.numel() >= numel,
                "an operation on {} f32 values met a{} tensor of {}", numel,
                x.is_phantom() ? " phantom" : "", x.numel());
  return reinterpret_cast<float*>(x.data());
}

/// The values of a u8 operand, under the same condition.
inline const std::uint8_t* byte_operand(const Tensor& x, std::size_t numel) {
  TRIGRAM_CHECK(!x.is_phantom() && x.dtype() == DType::u8 && x.numel() >= numel,
                "an operation on {} u8 values met a{} tensor of {}", numel,
                x.is_phantom() ? " phantom" : "", x.numel());
  return reinterpret_cast<const std::uint8_t*>(x.data());
}

}  // namespace trigram
