#include "core/nn/gemm.h"

#include <algorithm>

namespace trigram {

void gemm(const Gemm& shape, const float* a, const float* b, float beta, float* c) {
  const auto [m, n, k, ta, tb] = shape;
  for (std::size_t i = 0; i < m; ++i) {
    float* row = c + i * n;
    if (beta == 0) std::fill_n(row, n, 0.f);
    else if (beta != 1)
      for (std::size_t j = 0; j < n; ++j) row[j] *= beta;
    for (std::size_t p = 0; p < k; ++p) {
      const float factor = ta ? a[p * m + i] : a[i * k + p];
      for (std::size_t j = 0; j < n; ++j) row[j] += factor * (tb ? b[j * k + p] : b[p * n + j]);
    }
  }
}

}  // namespace trigram
