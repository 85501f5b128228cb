#pragma once

#include <cstddef>
#include <cstdint>

/// The loops of the codecs fp16 and bf16, compiled for every vector instruction set of the
/// architecture and chosen at run time. They give the same bits as core/device/float_bits.h.
namespace trigram::sixteen_bit {

void f16_from_f32(const float* x, std::size_t n, std::uint16_t* codes);
void f32_from_f16(const std::uint16_t* codes, std::size_t n, float* x);
void bf16_from_f32(const float* x, std::size_t n, std::uint16_t* codes);
void f32_from_bf16(const std::uint16_t* codes, std::size_t n, float* x);

}  // namespace trigram::sixteen_bit
