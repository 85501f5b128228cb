#include "experiments/run/evaluation.h"

#include <algorithm>
#include <cstring>

#include "experiments/sha256.h"

namespace trigram {
namespace {

// The number of samples on which a single worker's model is evaluated. This is only a part of the
// held-out data, because there may be as many distinct models as workers. With 1000 samples the
// standard error of an accuracy is at most 1.6 percentage points.
constexpr std::size_t kSamplesPerWorkerModel = 1000;

using Weights = std::vector<float>;

bool bitwise_equal(const Weights& a, const Weights& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// A distinct weight vector and the number of workers that hold it.
struct DistinctModel {
  const Weights* weights;
  int workers;
};

std::vector<DistinctModel> distinct(std::span<const Weights> all) {
  std::vector<DistinctModel> found;
  for (const Weights& w : all) {
    const auto same = std::ranges::find_if(
        found, [&](const DistinctModel& d) { return bitwise_equal(*d.weights, w); });
    if (same == found.end()) found.push_back({&w, 1});
    else ++same->workers;
  }
  return found;
}

Weights mean_of(std::span<const Weights> all) {
  Weights mean(all.front().size());
  for (std::size_t i = 0; i < mean.size(); ++i) {
    double sum = 0;
    for (const Weights& w : all) sum += w[i];
    mean[i] = static_cast<float>(sum / static_cast<double>(all.size()));
  }
  return mean;
}

double squared_distance(const Weights& a, const Weights& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += d * d;
  }
  return sum;
}

}  // namespace

Evaluation evaluate(Workload& workload, std::span<const Weights> weights) {
  const std::vector<DistinctModel> models = distinct(weights);
  const auto workers = static_cast<double>(weights.size());
  const Weights mean = models.size() == 1 ? weights.front() : mean_of(weights);
  const Quality of_mean = workload.evaluate(mean, kAllSamples);
  Evaluation result;
  result.loss = of_mean.loss;
  result.accuracy = of_mean.accuracy;
  for (const DistinctModel& model : models) {
    result.consensus_distance += model.workers * squared_distance(*model.weights, mean) / workers;
    const Quality own =
        models.size() == 1 ? of_mean : workload.evaluate(*model.weights, kSamplesPerWorkerModel);
    result.worker_loss_mean += model.workers * own.loss / workers;
    if (!own.accuracy) continue;
    result.worker_accuracy_mean =
        result.worker_accuracy_mean.value_or(0) + model.workers * *own.accuracy / workers;
    result.worker_accuracy_min = std::min(result.worker_accuracy_min.value_or(1), *own.accuracy);
  }
  return result;
}

std::string weights_hash(std::span<const float> weights) {
  return Sha256().update(std::as_bytes(weights)).hex();
}

}  // namespace trigram
