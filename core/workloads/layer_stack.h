#pragma once

#include <cstdint>

#include "core/workloads/layer.h"

namespace trigram {

/// Layers, each of which takes the output of the layer before it. The parameters of the stack are
/// those of the last layer, then of the layer before it, and so on, in the order in which backward
/// completes their gradients.
class LayerStack final : public Layer {
 public:
  explicit LayerStack(Layers layers);
  std::vector<Parameter> parameters() const override;
  const Tensor& forward(NnOps& nn, std::span<const Tensor> p, const Tensor& x) override;
  const Tensor& backward(NnOps& nn, std::span<const Tensor> p, const Tensor& x, const Tensor& dy,
                         std::span<const Tensor> gradient,
                         const std::function<void()>& on_tensor) override;

  /// Lengths of the parameters, in their order.
  std::vector<std::size_t> tensor_lengths() const;
  /// Rows of the parameters, in their order.
  std::vector<std::size_t> tensor_rows() const;
  /// Cuts a flat vector of weights or gradients into the parameters. The parts have the price of
  /// their real lengths, whatever the price of the flat vector.
  std::vector<Tensor> tensors(const Tensor& flat) const;
  /// Draws the initial weights of each layer from its own random stream.
  void initialise(std::span<float> weights, std::uint64_t seed) const;

 private:
  Layers layers_;
  std::vector<std::size_t> first_;     // number of the first parameter of each layer
  std::vector<const Tensor*> inputs_;  // of each layer in the last forward
};

/// y = x + f(x), where f is a stack that ends with a dense layer without activation (arXiv
/// 1512.03385).
std::unique_ptr<Layer> residual(Layers layers);

}  // namespace trigram
