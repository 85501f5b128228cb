#pragma once

#include <cstdint>
#include <vector>

namespace trigram::test {

/// Dion's update of one matrix (arXiv 2504.05295), in plain loops and f64. Shares only the
/// generator of random numbers with algorithms/ and core/, and it is the first matrix that draws.
class DionReference {
 public:
  using Vector = std::vector<double>;
  /// A matrix of `rows` x `cols`, of which the first `numel` elements, row by row, are a tensor.
  struct Options {
    std::size_t rows, cols, numel, rank;
    double momentum = 0.95;
    std::uint64_t seed = 0;
  };
  DionReference(const Options& options, int bucket);

  /// The update on every rank, given the ranks' gradients.
  Vector update(const std::vector<Vector>& gradients);

 private:
  Options o_;
  std::vector<Vector> q_;  // the columns of Q
  std::vector<Vector> m_;  // by rank
};

/// Adam's update of one vector along `g`; the state is kept.
class AdamReference {
 public:
  using Vector = std::vector<double>;
  AdamReference(double beta1, double beta2, double eps) : b1_(beta1), b2_(beta2), eps_(eps) {}
  Vector update(const Vector& g);

 private:
  double b1_, b2_, eps_;
  int steps_ = 0;
  Vector m_, v_;
};

}  // namespace trigram::test
