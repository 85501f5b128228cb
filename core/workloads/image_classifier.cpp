#include "core/workloads/image_classifier.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/check.h"
#include "core/device/host_device.h"

namespace trigram {
namespace {

std::size_t count_correct(const Tensor& logits, const Tensor& labels, std::size_t classes) {
  std::size_t correct = 0;
  const auto expected = labels.values<std::uint8_t>();  // in host memory, like the logits
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto row = logits.floats().subspan(i * classes, classes);
    correct += std::ranges::max_element(row) - row.begin() == expected[i];
  }
  return correct;
}

Sampler make_sampler(const ImageSet& set, std::size_t batch,
                     const std::optional<Sharding>& sharding, const ModelPlace& place) {
  if (!sharding) return {set.size(), batch, place.rank, place.ranks, place.seed};
  auto shards = dirichlet_shards(set.labels, sharding->dirichlet, place.ranks, place.seed);
  return {std::move(shards[static_cast<std::size_t>(place.rank)]), batch, place.rank, place.seed};
}

}  // namespace

ImageClassifier::ImageClassifier(Device& device, std::shared_ptr<const ImageData> data,
                                 const Architecture& architecture, std::size_t batch,
                                 const std::optional<Sharding>& sharding, const ModelPlace& place)
    : device_(device),
      data_(std::move(data)),
      architecture_(architecture),
      batch_(batch),
      seed_(place.seed),
      network_(device, architecture, batch),
      sampler_(make_sampler(data_->train, batch, sharding, place)) {}

void ImageClassifier::forward(Device& device, const Tensor& weights) {
  data_->gather(device, data_->train, sampler_.next(), network_.images(), network_.labels());
  network_.forward(device.nn(), weights);
}

void ImageClassifier::backward(Device& device, const Tensor& weights, const Tensor& gradients,
                               const std::function<void()>& on_tensor) {
  network_.backward(device.nn(), weights, gradients, on_tensor);
}

double ImageClassifier::loss() const {
  const auto loss = device_.download(network_.loss());
  return loss.empty() ? std::numeric_limits<double>::quiet_NaN() : loss[0];
}

Quality ImageClassifier::evaluate(std::span<const float> weights, std::size_t max_samples) const {
  // Small enough that the activations of these networks stay in the cache.
  constexpr std::size_t kBatch = 250;
  HostDevice host;
  const Tensor flat = host.empty(weights.size());
  std::ranges::copy(weights, flat.floats().begin());
  double loss = 0;
  std::size_t correct = 0;
  const std::size_t size = std::min(data_->test.size(), max_samples);
  for (std::size_t begin = 0; begin < size;) {
    const std::size_t batch = std::min(kBatch, size - begin);
    NeuralNetwork network(host, architecture_, batch);  // cheap, because memory is pooled
    std::vector<std::uint32_t> chosen(batch);
    std::iota(chosen.begin(), chosen.end(), static_cast<std::uint32_t>(begin));
    data_->gather(host, data_->test, chosen, network.images(), network.labels());
    network.forward(host.nn(), flat);
    loss += static_cast<double>(network.loss().floats()[0]) * static_cast<double>(batch);
    correct += count_correct(network.logits(), network.labels(), architecture_.classes);
    begin += batch;
  }
  const auto n = static_cast<double>(size);
  return {loss / n, static_cast<double>(correct) / n};
}

}  // namespace trigram
