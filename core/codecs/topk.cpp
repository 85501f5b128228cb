#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "core/check.h"
#include "core/codec.h"
#include "core/codecs/kernels.h"
#include "core/codecs/options.h"
#include "core/codecs/registry.h"

namespace trigram {

FieldTable<topk::Options> topk::option_fields() {
  return FieldTable<Options>{}.field(
      "density", &Options::density, density_kind(),
      "Share of the elements that is sent, rounded up to at least one element");
}

std::vector<std::uint32_t> topk::wire_indices(std::span<const std::byte> wire) {
  std::vector<std::uint32_t> indices(wire.size() / kElementBytes);
  if (!indices.empty())
    std::memcpy(indices.data(), wire.data(), indices.size() * sizeof(std::uint32_t));
  return indices;
}

std::vector<float> topk::wire_values(std::span<const std::byte> wire) {
  std::vector<float> values(wire.size() / kElementBytes);
  if (!values.empty())
    std::memcpy(values.data(), wire.data() + values.size() * sizeof(std::uint32_t),
                values.size() * sizeof(float));
  return values;
}

namespace {

using topk::Options;

std::uint32_t magnitude(float x) { return std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFF; }

// Estimates from a sample a magnitude that slightly more than k of the n elements reach. The
// estimate affects only how many candidates the second pass examines, never which elements are
// chosen.
std::uint32_t likely_bound(const float* x, std::size_t n, std::size_t k) {
  constexpr std::size_t kSample = 2048;
  if (n <= 2 * kSample) return 0;
  // The positions are multiples of the golden ratio mod 1: these spread evenly and do not resonate
  // with periods in the data.
  std::vector<std::uint32_t> sample(kSample);
  std::uint32_t position = 0;
  for (std::uint32_t& value : sample) {
    position += 0x9E3779B9;
    value = magnitude(x[std::uint64_t{position} * n >> 32]);
  }
  const double expected =
      static_cast<double>(kSample) * static_cast<double>(k) / static_cast<double>(n);
  const auto rank = static_cast<std::size_t>(expected + 4 * std::sqrt(expected) + 4);
  if (rank >= kSample) return 0;
  const auto nth = sample.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(sample.begin(), nth, sample.end(), std::greater<>());
  return *nth;
}

// The indices of the k largest magnitudes, in ascending order; among equal magnitudes the lowest
// indices win.
std::vector<std::uint32_t> largest_indices(const float* x, std::size_t n, std::size_t k) {
  const auto candidates = std::make_unique_for_overwrite<std::uint32_t[]>(n);
  std::size_t count = magnitudes::at_least(likely_bound(x, n, k), x, n, candidates.get());
  if (count < k) count = magnitudes::at_least(0, x, n, candidates.get());

  // Keys order elements by magnitude, then by index; no two keys are equal.
  std::vector<std::uint64_t> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    keys[i] = std::uint64_t{magnitude(x[candidates[i]])} << 32 |
              static_cast<std::uint32_t>(~candidates[i]);
  }
  const auto in_order = keys;
  const auto last = keys.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(keys.begin(), last, keys.end(), std::greater<>());
  std::vector<std::uint32_t> chosen(count);
  std::size_t place = 0;  // writes every key, because a branch here would be unpredictable
  for (const std::uint64_t key : in_order) {
    chosen[place] = ~static_cast<std::uint32_t>(key);
    place += key >= *last;
  }
  chosen.resize(k);
  return chosen;
}

// Sends exactly the k = ceil(density n) elements of largest magnitude; among equal magnitudes the
// lowest indices win. All other elements decode to zero, so ||x - x^||^2 <= (1 - k/n) ||x||^2. The
// code is biased and meant for error feedback (Stich et al., "Sparsified SGD with Memory", arXiv
// 1809.07599).
//
// A chunk (the input of one call) with a NaN or an infinity decodes to NaN everywhere, so that a
// diverged run stays visible.
//
// Wire: k indices as u32, ascending, then their k values as f32: 8k bytes.
class TopK final : public Codec {
 public:
  explicit TopK(const Options& options) : options_(options) {}

  std::size_t wire_bytes(std::size_t numel) const override {
    return kept_count(options_.density, numel) * topk::kElementBytes;
  }
  void encode(const Tensor& wire, const Tensor& x) override {
    check_wire(*this, wire, x);
    const std::size_t n = x.numel(), k = kept_count(options_.density, n);
    if (k == 0) return;
    TRIGRAM_CHECK(n <= std::numeric_limits<std::uint32_t>::max(), "{} elements", n);
    const float* from = x.floats().data();
    const auto indices = largest_indices(from, n, k);
    std::vector<float> values(k);
    bool finite = true;
    for (std::size_t i = 0; i < k; ++i) {
      values[i] = from[indices[i]];
      finite &= magnitude(values[i]) < magnitudes::kInfinity;
    }
    if (!finite) values.assign(k, std::numeric_limits<float>::quiet_NaN());
    std::memcpy(wire.data(), indices.data(), k * sizeof(std::uint32_t));
    std::memcpy(wire.data() + k * sizeof(std::uint32_t), values.data(), k * sizeof(float));
  }
  void decode(const Tensor& x, const Tensor& wire) override {
    check_wire(*this, wire, x);
    const std::size_t n = x.numel(), k = kept_count(options_.density, n);
    if (k == 0) return;
    float* to = x.floats().data();
    const std::span<const std::byte> code(wire.data(), wire.numel());
    const auto indices = topk::wire_indices(code);
    const auto values = topk::wire_values(code);
    std::fill_n(to, n, std::isnan(values[0]) ? values[0] : 0.0f);
    for (std::size_t i = 0; i < k; ++i) {
      TRIGRAM_CHECK(indices[i] < n, "element {} of {} on the wire", indices[i], n);
      to[indices[i]] = values[i];
    }
  }

 private:
  Options options_;
};

}  // namespace

CodecEntry topk_codec_entry() {
  return codec_entry(
      "topk",
      "The largest elements of a chunk with their indices, 8 bytes each; biased, for use with "
      "error feedback (arXiv 1809.07599)",
      topk::option_fields(),
      [](const Options& options, const CodecKey&) { return std::make_unique<TopK>(options); });
}

}  // namespace trigram
