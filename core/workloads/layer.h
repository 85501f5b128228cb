#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "core/device.h"

namespace trigram {

/// Lengths that describe a layer; inputs and outputs are per sample.
struct LayerShape {
  std::size_t inputs = 0, outputs = 0;
  std::size_t weight = 0, bias = 0;
  std::size_t fan_in = 0;  // inputs that one output depends on
};

/// The parameters of a layer, or their gradients.
struct LayerTensors {
  Tensor bias, weight;
};

/// One layer of a sequential network for one batch size. It owns its activations.
class Layer {
 public:
  virtual ~Layer() = default;
  virtual LayerShape shape() const = 0;
  /// Returns the output for `x`; it is valid until the next call.
  virtual const Tensor& forward(NnOps& nn, const LayerTensors& p, const Tensor& x) = 0;
  /// Writes the gradients of the parameters at the last input `x`, given the gradient `dy` of the
  /// output, which it may overwrite. Calls `on_tensor` once the bias gradient is complete and the
  /// bias will not be read again, then a second time for the weights. Returns the gradient of `x`,
  /// if the layer was created with input_gradient.
  virtual const Tensor& backward(NnOps& nn, const LayerTensors& p, const Tensor& x,
                                 const Tensor& dy, const LayerTensors& gradient,
                                 const std::function<void()>& on_tensor) = 0;
};

struct DenseOptions {
  std::size_t inputs = 0, outputs = 0;
  bool relu = true;
  bool input_gradient = true;
};
/// y = x W^T + b, with W [outputs, inputs], followed by relu if the option is set.
std::unique_ptr<Layer> dense_layer(Device& device, std::size_t batch, const DenseOptions& options);

struct ConvPoolOptions {
  std::size_t channels = 1, height = 0, width = 0;
  std::size_t filters = 1, kernel = 3;
  bool input_gradient = true;
};
/// Convolution with a square kernel of odd width and an output as large as the input, followed by
/// bias, relu and 2x2 max-pooling. Images are in NCHW order.
std::unique_ptr<Layer> conv_pool_layer(Device& device, std::size_t batch,
                                       const ConvPoolOptions& options);

}  // namespace trigram
