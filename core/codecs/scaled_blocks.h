#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/codec.h"
#include "core/codecs/hadamard.h"
#include "core/codecs/options.h"
#include "core/codecs/registry.h"
#include "core/codecs/scaled_blocks_math.h"

namespace trigram {

/// A codec whose blocks of elements share a scale, perhaps after a Hadamard transform. A Format has
/// the constants `kScaleBytes` and `kCodesPerByte` and, for one block, `encode(x, n, scale, codes)`
/// and `decode(codes, n, scale, x)`.
template <class Format>
class ScaledBlocks final : public Codec {
 public:
  explicit ScaledBlocks(const scaled_blocks::Options& options)
      : block_(static_cast<std::size_t>(options.block)),
        group_(static_cast<std::size_t>(options.hadamard)) {}

  std::size_t wire_bytes(std::size_t numel) const override {
    return scales_bytes(numel) + scaled_blocks::code_bytes(numel, Format::kCodesPerByte);
  }
  void encode(const Tensor& wire, const Tensor& x) override {
    check_wire(*this, wire, x);
    for_each_block(wire, x,
                   [this](float* values, std::size_t n, std::byte* scale, std::uint8_t* codes) {
                     Format::encode(transformed(values, n), n, scale, codes);
                   });
  }
  void decode(const Tensor& x, const Tensor& wire) override {
    check_wire(*this, wire, x);
    for_each_block(wire, x,
                   [this](float* values, std::size_t n, std::byte* scale, std::uint8_t* codes) {
                     Format::decode(codes, n, scale, values);
                     if (group_ > 1) hadamard::transform(values, n, group_);
                   });
  }

 private:
  std::size_t scales_bytes(std::size_t numel) const {
    return scaled_blocks::blocks_of(numel, block_) * Format::kScaleBytes;
  }
  /// A block, or a copy of it after the transform.
  const float* transformed(const float* values, std::size_t n) {
    if (group_ == 1) return values;
    copy_.assign(values, values + n);
    hadamard::transform(copy_.data(), n, group_);
    return copy_.data();
  }
  template <class Each>
  void for_each_block(const Tensor& wire, const Tensor& x, const Each& each) const {
    auto* const codes = reinterpret_cast<std::uint8_t*>(wire.data()) + scales_bytes(x.numel());
    for (std::size_t begin = 0, i = 0; begin < x.numel(); begin += block_, ++i)
      each(x.floats().data() + begin, std::min(block_, x.numel() - begin),
           wire.data() + i * Format::kScaleBytes, codes + begin / Format::kCodesPerByte);
  }

  std::size_t block_, group_;
  std::vector<float> copy_;
};

/// A format whose scale is the f32 `step` of Steps. A Numbers has `kCodesPerByte`,
/// `steps(x, n)`, which makes the scale of a block, and the loops `encode(x, n, steps, codes)` and
/// `decode(codes, n, step, x)`. A block without an inverse has the codes 0.
template <class Numbers>
struct StepFormat {
  static constexpr std::size_t kScaleBytes = sizeof(float), kCodesPerByte = Numbers::kCodesPerByte;

  static void encode(const float* x, std::size_t n, std::byte* scale, std::uint8_t* codes) {
    const scaled_blocks::Steps steps = Numbers::steps(x, n);
    std::memcpy(scale, &steps.step, sizeof(float));
    if (steps.inverse != 0) Numbers::encode(x, n, steps.inverse, codes);
    else std::fill_n(codes, scaled_blocks::code_bytes(n, kCodesPerByte), std::uint8_t{0});
  }
  static void decode(const std::uint8_t* codes, std::size_t n, const std::byte* scale, float* x) {
    float step = 0;
    std::memcpy(&step, scale, sizeof(float));
    Numbers::decode(codes, n, step, x);
  }
};

template <class Format>
CodecEntry scaled_blocks_entry(std::string name, std::string doc) {
  return codec_entry(std::move(name), std::move(doc),
                     scaled_blocks::option_fields(Format::kCodesPerByte),
                     [](const scaled_blocks::Options& options, const CodecKey&) {
                       return std::make_unique<ScaledBlocks<Format>>(options);
                     });
}

}  // namespace trigram
