#include "tests/oracles/dion_reference.h"

#include <cmath>

#include "core/random/philox.h"

namespace trigram::test {
namespace {

using Vector = DionReference::Vector;

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void normalise(Vector& x) {
  const double norm = std::sqrt(dot(x, x));
  for (double& v : x) v /= norm;
}

/// Gram-Schmidt.
void orthonormalise(std::vector<Vector>& columns) {
  for (std::size_t j = 0; j < columns.size(); ++j) {
    for (std::size_t k = 0; k < j; ++k) {
      const double share = dot(columns[j], columns[k]);
      for (std::size_t i = 0; i < columns[j].size(); ++i) columns[j][i] -= share * columns[k][i];
    }
    normalise(columns[j]);
  }
}

}  // namespace

DionReference::DionReference(const Options& options, int bucket) : o_(options) {
  Philox random(o_.seed, bucket, 0, Purpose::codec);
  for (std::size_t j = 0; j < o_.rank; ++j) {
    q_.emplace_back(o_.cols);
    for (double& x : q_.back()) x = random.normal();
    normalise(q_.back());
  }
}

Vector DionReference::update(const std::vector<Vector>& gradients) {
  const auto ranks = static_cast<double>(gradients.size());
  if (m_.empty()) m_.assign(gradients.size(), Vector(o_.rows * o_.cols));
  std::vector<Vector> p(o_.rank, Vector(o_.rows)), r(o_.rank, Vector(o_.cols));
  for (std::size_t rank = 0; rank < m_.size(); ++rank)
    for (std::size_t i = 0; i < o_.numel; ++i) m_[rank][i] += gradients[rank].at(i);
  for (const Vector& m : m_)
    for (std::size_t j = 0; j < o_.rank; ++j)
      for (std::size_t i = 0; i < m.size(); ++i)
        p[j][i / o_.cols] += m[i] * q_[j][i % o_.cols] / ranks;
  orthonormalise(p);
  for (const Vector& m : m_)
    for (std::size_t j = 0; j < o_.rank; ++j)
      for (std::size_t i = 0; i < m.size(); ++i)
        r[j][i % o_.cols] += m[i] * p[j][i / o_.cols] / ranks;
  const auto product = [&](std::size_t i) {
    double sum = 0;
    for (std::size_t j = 0; j < o_.rank; ++j) sum += p[j][i / o_.cols] * r[j][i % o_.cols];
    return sum;
  };
  for (Vector& m : m_)
    for (std::size_t i = 0; i < o_.numel; ++i) m[i] -= (1 - o_.momentum) * product(i);
  for (Vector& column : r) normalise(column);
  q_ = r;
  Vector result(o_.numel);
  const double scale = std::sqrt(static_cast<double>(o_.rows) / static_cast<double>(o_.cols));
  for (std::size_t i = 0; i < o_.numel; ++i) result[i] = scale * product(i);
  return result;
}

Vector AdamReference::update(const Vector& g) {
  m_.resize(g.size());
  v_.resize(g.size());
  ++steps_;
  Vector result(g.size());
  for (std::size_t i = 0; i < g.size(); ++i) {
    m_[i] = b1_ * m_[i] + (1 - b1_) * g[i];
    v_[i] = b2_ * v_[i] + (1 - b2_) * g[i] * g[i];
    result[i] = m_[i] / (1 - std::pow(b1_, steps_)) /
                (std::sqrt(v_[i] / (1 - std::pow(b2_, steps_))) + eps_);
  }
  return result;
}

}  // namespace trigram::test
