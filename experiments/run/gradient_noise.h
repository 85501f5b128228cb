#pragma once

#include <memory>

#include "core/optimizer.h"

namespace trigram {

/// Squared Euclidean norms of gradients, in one step: of a worker's own gradient, and of the mean
/// gradient of all workers.
struct GradientSquares {
  double own = 0, mean = 0;
};

/// Estimates of the true gradient's squared norm |G|^2 and of S, the trace of the covariance of one
/// sample's gradient.
struct GradientNoise {
  double gradient_square = 0;  // |G|^2
  double noise = 0;            // S
};

/// The two-batch estimator of McCandlish et al. (arXiv 1812.06162, appendix A), with b samples in
/// a worker's batch and B = b `workers`, at least two workers:
///
///   |G|^2 = (B |g_B|^2 - b |g_b|^2) / (B - b)
///   S     = (|g_b|^2 - |g_B|^2) / (1/b - 1/B)
///
/// Both are unbiased and linear in the squares, so `squares` may be means over workers and steps.
/// The simple noise scale is S / |G|^2, in samples.
GradientNoise estimate_noise(const GradientSquares& squares, double samples, double workers);

/// Measures the squares on one worker, in no simulated time. It wraps the worker's workload and its
/// optimizer. The training loop must pass the optimizer, in every step, the mean of all workers'
/// gradients (AlgorithmTraits::averages_gradients).
class NoiseMeter {
 public:
  /// `device` is the worker's device without charges (not that of an instrumented Context). The
  /// caller owns it, and the meter must outlive what it wraps.
  explicit NoiseMeter(Device& device) : device_(device) {}
  std::unique_ptr<Workload> wrap(std::unique_ptr<Workload> workload);
  /// `workload` has the gradients that the optimizer takes.
  std::unique_ptr<Optimizer> wrap(std::unique_ptr<Optimizer> optimizer, Workload& workload);
  /// Returns the squares since the last call.
  GradientSquares take();

 private:
  class MeteredWorkload;
  class MeteredOptimizer;
  double square(const Tensor& x) const;

  Device& device_;
  GradientSquares squares_;
};

}  // namespace trigram
