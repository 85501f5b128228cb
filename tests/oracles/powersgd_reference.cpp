#include "tests/oracles/powersgd_reference.h"

#include <cmath>

#include "core/random/philox.h"

namespace trigram::test {
namespace {

using Vector = PowerSgdReference::Vector;

Vector mean(const std::vector<Vector>& vectors) {
  Vector result(vectors.at(0).size());
  for (const Vector& x : vectors)
    for (std::size_t i = 0; i < x.size(); ++i)
      result[i] += x[i] / static_cast<double>(vectors.size());
  return result;
}

}  // namespace

Vector PowerSgdReference::approximation(const std::vector<Vector>& inputs, long step) {
  const std::size_t n = inputs.at(0).size(), rank = options_.rank;
  const bool first = error_.empty();
  if (first) start(inputs.size(), n);
  if (rank * (rows_ + cols_) >= n) return mean(inputs);
  if (first || !options_.warm_start) {
    Philox random(options_.seed, bucket_, step, Purpose::codec);
    q_.resize(rank * cols_);
    for (double& x : q_) x = random.normal();
  }
  std::vector<Vector> m, p, own_q;
  for (std::size_t r = 0; r < inputs.size(); ++r) {
    m.emplace_back(rows_ * cols_);
    for (std::size_t i = 0; i < n; ++i)
      m[r][i] = inputs[r].at(i) + (options_.error_feedback ? error_[r][i] : 0);
    p.push_back(times(m[r]));
  }
  const Vector basis = orthonormal(mean(p));
  for (const Vector& own : m) own_q.push_back(transposed_times(own, basis));
  q_ = mean(own_q);
  Vector result(n);
  for (std::size_t j = 0; j < rank; ++j)
    for (std::size_t i = 0; i < n; ++i)
      result[i] += basis[j * rows_ + i / cols_] * q_[j * cols_ + i % cols_];
  for (std::size_t r = 0; r < m.size(); ++r)
    for (std::size_t i = 0; i < n; ++i) error_[r][i] = m[r][i] - result[i];
  return result;
}

/// The smallest numbers of rows and columns that hold the vector.
void PowerSgdReference::start(std::size_t ranks, std::size_t numel) {
  std::size_t sum = 0;
  while (sum / 2 * ((sum + 1) / 2) < numel) ++sum;
  rows_ = sum / 2;
  cols_ = (sum + 1) / 2;
  error_.assign(ranks, Vector(numel));
}

/// p[j][a] = sum_b m[a][b] q[j][b].
Vector PowerSgdReference::times(const Vector& m) const {
  Vector p(options_.rank * rows_);
  for (std::size_t j = 0; j < options_.rank; ++j)
    for (std::size_t a = 0; a < rows_; ++a)
      for (std::size_t b = 0; b < cols_; ++b)
        p[j * rows_ + a] += m[a * cols_ + b] * q_[j * cols_ + b];
  return p;
}

/// q[j][b] = sum_a m[a][b] p[j][a].
Vector PowerSgdReference::transposed_times(const Vector& m, const Vector& p) const {
  Vector q(options_.rank * cols_);
  for (std::size_t j = 0; j < options_.rank; ++j)
    for (std::size_t b = 0; b < cols_; ++b)
      for (std::size_t a = 0; a < rows_; ++a)
        q[j * cols_ + b] += m[a * cols_ + b] * p[j * rows_ + a];
  return q;
}

/// Gram-Schmidt.
Vector PowerSgdReference::orthonormal(Vector p) const {
  for (std::size_t j = 0; j < options_.rank; ++j) {
    double* const vector = &p[j * rows_];
    for (std::size_t i = 0; i < j; ++i) {
      double along = 0;
      for (std::size_t a = 0; a < rows_; ++a) along += vector[a] * p[i * rows_ + a];
      for (std::size_t a = 0; a < rows_; ++a) vector[a] -= along * p[i * rows_ + a];
    }
    double square = 0;
    for (std::size_t a = 0; a < rows_; ++a) square += vector[a] * vector[a];
    for (std::size_t a = 0; a < rows_; ++a) vector[a] /= std::sqrt(square);
  }
  return p;
}

}  // namespace trigram::test
