#pragma once

#include <cstddef>

#include "core/device.h"

/// The loops of HostDevice on plain arrays of n elements. They work element by element, and `norm2`
/// has a fixed order of summation, so that the results are the same to the last bit for any vector
/// width that the compiler chooses.
namespace trigram::vector_ops {

void fill(std::size_t n, float* x, float value);
void axpby(std::size_t n, float a, const float* x, float b, float* y);
/// axpby on 16-bit elements; each result is rounded to nearest even once.
void axpby(std::size_t n, DType type, float a, const std::byte* x, float b, std::byte* y);
void maximum(std::size_t n, const float* x, float* y);
void cut_below(std::size_t n, float magnitude, float* x);
double norm2(std::size_t n, const float* x);
/// dst[i] = src[i] between any two element types.
void convert(std::size_t n, DType to, std::byte* dst, DType from, const std::byte* src);

}  // namespace trigram::vector_ops
