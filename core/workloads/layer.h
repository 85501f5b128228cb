#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/device.h"

namespace trigram {

/// One tensor of a layer's parameters. Its initial values are uniform within `start` +- `bound`.
struct Parameter {
  std::size_t length = 0;
  float bound = 0;
  float start = 0;
  /// Rows of the tensor as a matrix, one for each output of its layer; 1 for a vector or a table
  /// (TensorPlace::rows).
  std::size_t rows = 1;
};

/// The bound of He's initialisation (arXiv 1502.01852) for weights before a relu: sqrt(6 / fan_in).
/// fan_in is the number of inputs that one output depends on.
float he_bound(std::size_t fan_in);
/// The bound that preserves the variance of the layer's input: sqrt(3 / fan_in).
float variance_bound(std::size_t fan_in);

/// One layer of a network for one mini-batch size. It owns its activations.
class Layer {
 public:
  virtual ~Layer() = default;
  /// The parameters, in the order in which backward completes their gradients.
  virtual std::vector<Parameter> parameters() const = 0;
  /// Returns the output for `x`; it is valid until the next call. `p` has one tensor for each of
  /// parameters(), like `gradient` below.
  virtual const Tensor& forward(NnOps& nn, std::span<const Tensor> p, const Tensor& x) = 0;
  /// Writes the gradients of the parameters at the last input `x`, given the gradient `dy` of the
  /// output, which it may overwrite. Calls `on_tensor` for each parameter, once its gradient is
  /// complete and the parameter will not be read again. Returns the gradient of `x` if the layer
  /// was created with input_gradient.
  virtual const Tensor& backward(NnOps& nn, std::span<const Tensor> p, const Tensor& x,
                                 const Tensor& dy, std::span<const Tensor> gradient,
                                 const std::function<void()>& on_tensor) = 0;
};

using Layers = std::vector<std::unique_ptr<Layer>>;

enum class Activation { none, relu, gelu };

struct DenseOptions {
  std::size_t inputs = 0, outputs = 0;
  Activation activation = Activation::relu;
  bool input_gradient = true;
  float bound = 0;  // of the initial weights; 0: he_bound(inputs)
};
/// y = activation(x W^T + b), with W [outputs, inputs]. The parameters are b and W.
/// Without an activation, backward neither reads y nor overwrites dy.
std::unique_ptr<Layer> dense_layer(Device& device, std::size_t batch, const DenseOptions& options);

struct ConvPoolOptions {
  std::size_t channels = 1, height = 0, width = 0;
  std::size_t filters = 1, kernel = 3;
  bool input_gradient = true;
};
/// Convolution with a square kernel of odd width and an output as large as the input, followed by
/// bias, relu and 2x2 max-pooling. Images are in NCHW order. The parameters are bias and weights.
std::unique_ptr<Layer> conv_pool_layer(Device& device, std::size_t batch,
                                       const ConvPoolOptions& options);

}  // namespace trigram
