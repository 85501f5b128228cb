#include "core/workloads/quadratic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.h"
#include "core/config/option_type.h"
#include "core/random/philox.h"
#include "core/workloads/pricing.h"
#include "core/workloads/registry.h"

namespace trigram {
namespace {

// Parts of the problem. Each serves as `step` of the random numbers of Purpose::data_set, so that
// no two parts share numbers.
enum ProblemPart : long { optimum_part, target_part, first_reflection };
constexpr long kReflections = 3;

/// A random unit vector.
std::vector<double> direction(std::size_t dimension, std::uint64_t seed, long part) {
  Philox random(seed, 0, part, Purpose::data_set);
  std::vector<double> v(dimension);
  double squares = 0;
  for (double& x : v) {
    x = static_cast<double>(random.normal());
    squares += x * x;
  }
  for (double& x : v) x /= std::sqrt(squares);
  return v;
}

/// row <- row (I - 2 v v^T)
void reflect(std::span<double> row, std::span<const double> v) {
  double dot = 0;
  for (std::size_t i = 0; i < row.size(); ++i) dot += row[i] * v[i];
  for (std::size_t i = 0; i < row.size(); ++i) row[i] -= 2 * dot * v[i];
}

}  // namespace

Quadratic::Quadratic(Device& device, const QuadraticOptions& options, const ModelPlace& place)
    : device_(device),
      options_(options),
      place_(place),
      transposed_(device.empty(options.dimension * options.dimension)),
      target_(device.empty(options.dimension)),
      residual_(device.empty(options.dimension)),
      noise_(device.empty(options.dimension)) {
  TRIGRAM_CHECK(options.tensors >= 1 && options.tensors <= options.dimension,
                "{} tensors of {} elements", options.tensors, options.dimension);
  if (transposed_.is_phantom()) return;
  build_matrix(device, place.seed);
  Philox random(place.seed, 0, optimum_part, Purpose::data_set);
  optimum_.resize(options.dimension);
  for (float& x : optimum_) x = random.normal();
  build_target(device);
}

void Quadratic::build_matrix(Device& device, std::uint64_t seed) {
  const std::size_t d = options_.dimension;
  std::vector<std::vector<double>> reflections;
  for (long k = 0; k < kReflections; ++k)
    reflections.push_back(direction(d, seed, first_reflection + k));
  host_transposed_.resize(d * d);
  // Row i of A is a singular value times row i of an orthogonal matrix, which is a product of
  // reflections.
  for (std::size_t i = 0; i < d; ++i) {
    const double position = d > 1 ? static_cast<double>(i) / static_cast<double>(d - 1) : 1.0;
    const double eigenvalue = 1 / options_.condition + (1 - 1 / options_.condition) * position;
    std::vector<double> row(d, 0.0);
    row[i] = std::sqrt(eigenvalue);
    for (const auto& v : reflections) reflect(row, v);
    for (std::size_t k = 0; k < d; ++k) host_transposed_[k * d + i] = static_cast<float>(row[k]);
  }
  device.upload(transposed_, host_transposed_);
}

void Quadratic::build_target(Device& device) {
  const std::vector<double> common = times(optimum_);
  Philox random(place_.seed, place_.rank / 2, target_part, Purpose::data_set);
  const bool unpaired = place_.rank % 2 == 0 && place_.rank + 1 == place_.ranks;
  const double sign = unpaired ? 0 : place_.rank % 2 == 0 ? 1 : -1;
  std::vector<float> target;
  for (double c : common) {
    const double difference = sign * options_.heterogeneity * static_cast<double>(random.normal());
    target.push_back(static_cast<float>(c + difference));
  }
  device.upload(target_, target);
}

std::vector<double> Quadratic::times(std::span<const float> x) const {
  const std::size_t d = options_.dimension;
  std::vector<double> result(d, 0.0);
  for (std::size_t k = 0; k < d; ++k)
    for (std::size_t i = 0; i < d; ++i)
      result[i] += static_cast<double>(host_transposed_[k * d + i]) * static_cast<double>(x[k]);
  return result;
}

std::vector<std::size_t> Quadratic::tensor_lengths() const {
  std::vector<std::size_t> lengths;
  auto cut = [&](std::size_t i) { return options_.dimension * i / options_.tensors; };
  for (std::size_t i = 0; i < options_.tensors; ++i) lengths.push_back(cut(i + 1) - cut(i));
  return lengths;
}

void Quadratic::initialise(std::span<float> weights) const { std::ranges::fill(weights, 0.0f); }

void Quadratic::forward(Device& device, const Tensor& weights) {
  const std::size_t d = options_.dimension;
  // Priced by its real length, because the model itself is computed.
  const Tensor w = weights.slice(0, d, d);
  device.nn().gemm({.m = d, .n = 1, .k = d, .transpose_a = true}, transposed_, w, 0, residual_);
  device.axpby(-1, target_, 1, residual_);
  if (options_.noise > 0) draw_noise(device);
  ++step_;
}

void Quadratic::draw_noise(Device& device) {
  Philox random(place_.seed, place_.rank, step_, Purpose::gradient_noise);
  std::vector<float> noise(noise_.numel());
  for (float& x : noise) x = random.normal();
  device.upload(noise_, noise);
}

void Quadratic::backward(Device& device, const Tensor& /*weights*/, const Tensor& gradients,
                         const std::function<void()>& on_tensor) {
  const std::size_t d = options_.dimension;
  std::size_t begin = 0;
  for (std::size_t length : tensor_lengths()) {
    const Tensor g = gradients.slice(begin, length, length);
    device.nn().gemm({.m = length, .n = 1, .k = d}, transposed_.slice(begin * d, length * d),
                     residual_, 0, g);
    if (options_.noise > 0)
      device.axpby(static_cast<float>(options_.noise), noise_.slice(begin, length), 1, g);
    begin += length;
    on_tensor();
  }
}

double Quadratic::loss() const {
  if (residual_.is_phantom()) return std::numeric_limits<double>::quiet_NaN();
  double squares = 0;
  for (float r : device_.download(residual_))
    squares += static_cast<double>(r) * static_cast<double>(r);
  return squares / 2;
}

Quality Quadratic::evaluate(std::span<const float> weights, std::size_t /*max_samples*/) const {
  TRIGRAM_CHECK(weights.size() == optimum_.size(), "{} weights of {}", weights.size(),
                optimum_.size());
  std::vector<float> difference(weights.begin(), weights.end());
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= optimum_[i];
  double squares = 0;
  for (double x : times(difference)) squares += x * x;
  return {squares / 2, std::nullopt};
}

namespace {

struct PricedQuadratic {
  QuadraticOptions problem;
  Pricing pricing;
};

FieldTable<PricedQuadratic> quadratic_fields() {
  using Q = QuadraticOptions;
  auto problem =
      FieldTable<Q>{}
          .field("dimension", &Q::dimension, count(1, 4096), "number of weights")
          .field("condition", &Q::condition, number(1, 1e6), "condition number of the Hessian")
          .field("noise", &Q::noise, number(0, 1e6),
                 "standard deviation of the noise that is added to each element of a gradient")
          .field("heterogeneity", &Q::heterogeneity, number(0, 1e6),
                 "standard deviation of the elements of b_r - A w*, in which the objectives |A w - "
                 "b_r|^2 / 2 of the ranks differ; 0: all ranks have the same objective")
          .field("tensors", &Q::tensors, count(1, 4096),
                 "number of tensors that the weights are split into");
  return FieldTable<PricedQuadratic>{}
      .include(&PricedQuadratic::problem, problem)
      .include(&PricedQuadratic::pricing, pricing_fields())
      .finish_with([](const PricedQuadratic& options, const std::string& pointer) {
        const Q& q = options.problem;
        if (q.tensors > q.dimension)
          throw ConfigError(
              child(pointer, "tensors"),
              fmt::format("expected at most the dimension, {}, not {}", q.dimension, q.tensors));
      });
}

}  // namespace

WorkloadEntry quadratic_entry() {
  return component<WorkloadFactory, const std::string&>(
      "quadratic", "least squares with a known optimum, condition number and gradient noise",
      quadratic_fields(), [](const PricedQuadratic& options, const std::string& pointer) {
        return make_model_workload_factory(std::make_unique<QuadraticFactory>(options.problem),
                                           options.pricing, pointer);
      });
}

}  // namespace trigram
