#include "experiments/tune/surrogate.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace trigram {

Surrogate::Surrogate(const SearchSpace& space, const std::vector<EvaluatedPoint>& evaluations,
                     ValueScale scale, const GaussianProcess::Hyperparameters& start)
    : scale_(scale) {
  std::optional<double> worst;
  for (const EvaluatedPoint& e : evaluations) {
    if (!e.value) continue;
    worst = std::max(worst.value_or(*e.value), *e.value);
    positive_ = positive_ && *e.value > 0;
  }
  TRIGRAM_CHECK(worst.has_value(), "no evaluation has a value");
  for (const SearchDimension& dimension : space.dimensions)
    observations_.categorical.push_back(dimension.kind == SearchDimension::Kind::categorical);
  for (const EvaluatedPoint& e : evaluations) {
    observations_.positions.push_back(e.position);
    observations_.values.push_back(transformed(e.value.value_or(*worst)));
  }
  best_ = *std::ranges::min_element(observations_.values);
  process_.emplace(observations_, most_likely(observations_, start));
}

double Surrogate::transformed(double value) const {
  if (!positive_) return value;
  return scale_ == ValueScale::logarithm ? std::log(value) : -1 / value;
}

double Surrogate::original(double transformed) const {
  if (!positive_) return transformed;
  return scale_ == ValueScale::logarithm ? std::exp(transformed) : -1 / transformed;
}

void Surrogate::believe(const Position& position) {
  observations_.positions.push_back(position);
  observations_.values.push_back(process_->predict(position).mean);
  // Not emplace, which would destroy the hyperparameters before they are copied.
  process_ = GaussianProcess(observations_, process_->hyperparameters());
}

std::pair<double, double> Surrogate::interval(const Position& position) const {
  const GaussianProcess::Prediction p = process_->predict(position);
  const double half = 1.96 * std::hypot(p.deviation, process_->noise_deviation());
  return {original(p.mean - half), original(p.mean + half)};
}

}  // namespace trigram
