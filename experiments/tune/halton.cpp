#include "experiments/tune/halton.h"

#include <cmath>

namespace trigram {
namespace {

bool is_prime(std::size_t n) {
  for (std::size_t divisor = 2; divisor * divisor <= n; ++divisor)
    if (n % divisor == 0) return false;
  return n > 1;
}

}  // namespace

double radical_inverse(std::size_t index, std::size_t base) {
  double result = 0, weight = 1;
  for (; index > 0; index /= base) {
    weight /= static_cast<double>(base);
    result += weight * static_cast<double>(index % base);
  }
  return result;
}

Position halton_point(std::size_t index, const Position& shift) {
  Position position;
  std::size_t base = 1;
  for (const double offset : shift) {
    do ++base;
    while (!is_prime(base));
    const double shifted = radical_inverse(index, base) + offset;
    position.push_back(shifted - std::floor(shifted));
  }
  return position;
}

}  // namespace trigram
