#pragma once

#include <cstddef>
#include <cstdint>

/// The loops of the codecs fp16 and bf16. Highway compiles each loop for several instruction sets
/// and calls the best one that the processor supports. Results equal those of
/// core/device/float_bits.h bit for bit. Arrays have n elements and may be unaligned.
namespace trigram::sixteen_bit {

void f16_from_f32(const float* x, std::size_t n, std::uint16_t* codes);
void f32_from_f16(const std::uint16_t* codes, std::size_t n, float* x);
void bf16_from_f32(const float* x, std::size_t n, std::uint16_t* codes);
void f32_from_bf16(const std::uint16_t* codes, std::size_t n, float* x);

}  // namespace trigram::sixteen_bit
