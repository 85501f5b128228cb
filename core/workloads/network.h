#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/workloads/layer_stack.h"

namespace trigram {

/// A classifier of grey-scale images: convolutional layers (3x3, relu, 2x2 max-pooling), then
/// hidden dense layers (relu), then a dense layer with one output per class.
struct Architecture {
  std::size_t height = 0, width = 0, classes = 0;
  std::vector<std::size_t> filters;  // number of filters in each convolutional layer
  std::vector<std::size_t> hidden;   // width of each hidden layer
};

/// A sequential network for one batch size: forward, softmax cross-entropy, backward. Its flat
/// weights hold the bias and weight of the last layer, then of the layer before it, and so on, in
/// the order in which backward completes their gradients.
class NeuralNetwork {
 public:
  NeuralNetwork(Device& device, const Architecture& architecture, std::size_t batch);

  /// Lengths of the parameter tensors, in their flat order.
  std::vector<std::size_t> tensor_lengths() const { return layers_.tensor_lengths(); }
  /// Rows of the parameter tensors (TensorPlace): the outputs of a dense layer, the filters of a
  /// convolution.
  std::vector<std::size_t> tensor_rows() const { return layers_.tensor_rows(); }
  /// He's initialisation (arXiv 1502.01852), uniform: weights within +-sqrt(6 / fan_in), biases 0.
  void initialise(std::span<float> weights, std::uint64_t seed) const {
    layers_.initialise(weights, seed);
  }

  /// The caller fills these before forward: batch x pixels (f32) and batch classes (u8).
  const Tensor& images() const { return images_; }
  const Tensor& labels() const { return labels_; }
  void forward(NnOps& nn, const Tensor& weights);
  void backward(NnOps& nn, const Tensor& weights, const Tensor& gradients,
                const std::function<void()>& on_tensor);
  /// Results of the last forward: batch x classes logits, and one mean loss.
  const Tensor& logits() const { return *logits_; }
  const Tensor& loss() const { return loss_; }

 private:
  std::size_t batch_, classes_;
  LayerStack layers_;
  Tensor images_, labels_, dlogits_, loss_;
  const Tensor* logits_ = nullptr;  // of the last forward
};

}  // namespace trigram
