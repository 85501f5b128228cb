#pragma once

#include <memory>

#include "core/workloads/model.h"

namespace trigram {

struct QuadraticOptions {
  std::size_t dimension = 64;
  double condition = 10;  // ratio of the largest to the smallest eigenvalue of the Hessian
  double noise = 0;       // standard deviation of the noise added to each gradient element
  // Standard deviation by which the elements of the ranks' targets b_r differ from A w* (see
  // Quadratic); 0: all ranks have the same objective.
  double heterogeneity = 0;
  std::size_t tensors = 4;  // number of tensors into which the weights are split
};

/// Least squares with a known optimum, for property tests. Rank r minimises |A w - b_r|^2 / 2 from
/// w = 0, where A^T A has eigenvalues spaced evenly from 1/condition to 1, b_r = A w* +
/// heterogeneity * z_r, and the elements of z_r are standard normal. Ranks come in pairs with
/// opposite z (a last rank without a partner has z = 0), so that w* is the minimiser of the mean
/// objective. Gradients carry fresh noise of mean 0, keyed by (seed, rank, step).
class Quadratic final : public Model {
 public:
  Quadratic(Device& device, const QuadraticOptions& options, const ModelPlace& place);

  std::vector<std::size_t> tensor_lengths() const override;
  void initialise(std::span<float> weights) const override;
  void forward(Device& device, const Tensor& weights) override;
  void skip(long count) override { step_ += count; }
  void backward(Device& device, const Tensor& weights, const Tensor& gradients,
                const std::function<void()>& on_tensor) override;
  double loss() const override;
  /// The reported loss is the excess of the mean objective over its minimum: |A (w - w*)|^2 / 2.
  Quality evaluate(std::span<const float> weights, std::size_t max_samples) const override;
  std::size_t batch() const override { return 1; }

  /// w*, the minimiser of the mean objective.
  std::span<const float> optimum() const { return optimum_; }

 private:
  void build_matrix(Device& device, std::uint64_t seed);
  void build_target(Device& device);
  void draw_noise(Device& device);
  /// A x, in double precision.
  std::vector<double> times(std::span<const float> x) const;

  Device& device_;
  QuadraticOptions options_;
  ModelPlace place_;
  std::vector<float> host_transposed_;  // A^T: row i belongs to weight i
  std::vector<float> optimum_;
  Tensor transposed_, target_, residual_, noise_;  // on `device_`: A^T, b_r, A w - b_r, noise
  long step_ = 0;
};

class QuadraticFactory final : public ModelFactory {
 public:
  explicit QuadraticFactory(const QuadraticOptions& options) : options_(options) {}
  void check_ranks(int /*ranks*/) const override {}
  std::unique_ptr<Model> make(Device& device, const ModelPlace& place) const override {
    return std::make_unique<Quadratic>(device, options_, place);
  }
  std::vector<std::filesystem::path> input_files() const override { return {}; }

 private:
  QuadraticOptions options_;
};

}  // namespace trigram
