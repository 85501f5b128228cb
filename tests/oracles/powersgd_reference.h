#pragma once

#include <cstdint>
#include <vector>

namespace trigram::test {

/// PowerSGD of one bucket (arXiv 1905.13727), in plain loops and f64. Shares only the generator of
/// random numbers with algorithms/ and core/.
class PowerSgdReference {
 public:
  using Vector = std::vector<double>;
  struct Options {
    std::size_t rank = 4;
    bool error_feedback = true, warm_start = true;
    std::uint64_t seed = 0;
  };
  PowerSgdReference(const Options& options, int bucket) : options_(options), bucket_(bucket) {}

  /// The result of a step on every rank, given the ranks' inputs.
  Vector approximation(const std::vector<Vector>& inputs, long step);

 private:
  void start(std::size_t ranks, std::size_t numel);
  Vector times(const Vector& m) const;                              // M Q
  Vector transposed_times(const Vector& m, const Vector& p) const;  // M^T P
  Vector orthonormal(Vector p) const;

  Options options_;
  int bucket_;
  std::size_t rows_ = 0, cols_ = 0;
  Vector q_;                   // [column of Q][element]
  std::vector<Vector> error_;  // by rank
};

}  // namespace trigram::test
