#include "experiments/tune/acquisition_choice.h"

#include <algorithm>
#include <cmath>

#include "experiments/tune/acquisition.h"

namespace trigram {

double AcquisitionChoice::value(std::size_t index, const GaussianProcess::Prediction& prediction,
                                double best) {
  constexpr double kDeviations = 1.96, kLeastImprovement = 0.01;
  if (index == 0) return kDeviations * prediction.deviation - prediction.mean;
  if (index == 1) return expected_improvement(prediction, best - kLeastImprovement);
  return probability_of_improvement(prediction, best - kLeastImprovement);
}

const Position& AcquisitionChoice::choose(Proposals proposals, double uniform) {
  last_ = std::move(proposals);
  const double largest = *std::ranges::max_element(gains_);
  std::array<double, kCount> weights{};
  double sum = 0;
  for (std::size_t i = 0; i < kCount; ++i) sum += weights[i] = std::exp(gains_[i] - largest);
  double rest = uniform * sum;
  for (std::size_t i = 0; i + 1 < kCount; ++i) {
    if (rest < weights[i]) return last_[i];
    rest -= weights[i];
  }
  return last_.back();
}

void AcquisitionChoice::credit(const GaussianProcess& process) {
  for (std::size_t i = 0; i < kCount; ++i)
    if (!last_[i].empty()) gains_[i] -= process.predict(last_[i]).mean;
}

}  // namespace trigram
