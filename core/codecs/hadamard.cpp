#include "core/codecs/hadamard.h"

#include <cmath>

namespace trigram::hadamard {

float scale(std::size_t group) {
  return static_cast<float>(1 / std::sqrt(static_cast<double>(group)));
}

void transform(float* x, std::size_t n, std::size_t group) {
  const float factor = scale(group);
  for (float* const end = x + n / group * group; x < end; x += group) {
    for (std::size_t i = 0; i < group; ++i) x[i] *= factor;
    for (std::size_t distance = 1; distance < group; distance *= 2)
      for (std::size_t i = 0; i < group; ++i) {
        if (i & distance) continue;
        const float a = x[i], b = x[i + distance];
        x[i] = a + b;
        x[i + distance] = a - b;
      }
  }
}

}  // namespace trigram::hadamard
