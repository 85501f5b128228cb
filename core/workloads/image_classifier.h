#pragma once

#include <memory>
#include <optional>

#include "core/workloads/image_data.h"
#include "core/workloads/model.h"
#include "core/workloads/network.h"
#include "core/workloads/sampler.h"

namespace trigram {

/// A network trained on a data set, as one rank sees it.
class ImageClassifier final : public Model {
 public:
  /// `data` is shared by the ranks, read-only. Without `sharding`, ranks draw from all samples,
  /// reshuffled in every epoch.
  ImageClassifier(Device& device, std::shared_ptr<const ImageData> data,
                  const Architecture& architecture, std::size_t batch,
                  const std::optional<Sharding>& sharding, const ModelPlace& place);

  std::vector<std::size_t> tensor_lengths() const override { return network_.tensor_lengths(); }
  void initialise(std::span<float> weights) const override { network_.initialise(weights, seed_); }
  void forward(Device& device, const Tensor& weights) override;
  void backward(Device& device, const Tensor& weights, const Tensor& gradients,
                const std::function<void()>& on_tensor) override;
  double loss() const override;
  /// Evaluates on the test images, computed on the host.
  Quality evaluate(std::span<const float> weights, std::size_t max_samples) const override;
  std::size_t batch() const override { return batch_; }

 private:
  Device& device_;
  std::shared_ptr<const ImageData> data_;
  Architecture architecture_;
  std::size_t batch_;
  std::uint64_t seed_;
  NeuralNetwork network_;
  Sampler sampler_;
};

}  // namespace trigram
