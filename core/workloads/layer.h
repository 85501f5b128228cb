#pragma once

#include <cstddef>
#include <functional>

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

/// y = x W^T + b, with W [outputs, inputs], followed by relu if the option is set.
class Dense final : public Layer {
 public:
  struct Options {
    std::size_t inputs = 0, outputs = 0;
    bool relu = true;
    bool input_gradient = true;
  };
  Dense(Device& device, std::size_t batch, const Options& options);
  LayerShape shape() const override;
  const Tensor& forward(NnOps& nn, const LayerTensors& p, const Tensor& x) override;
  const Tensor& backward(NnOps& nn, const LayerTensors& p, const Tensor& x, const Tensor& dy,
                         const LayerTensors& gradient,
                         const std::function<void()>& on_tensor) override;

 private:
  std::size_t batch_;
  Options o_;
  Tensor y_, dx_;
};

/// Convolution with a square kernel of odd width and an output as large as the input, followed by
/// bias, relu and 2x2 max-pooling. Images are in NCHW order.
class ConvPool final : public Layer {
 public:
  struct Options {
    std::size_t channels = 1, height = 0, width = 0;
    std::size_t filters = 1, kernel = 3;
    bool input_gradient = true;
  };
  ConvPool(Device& device, std::size_t batch, const Options& options);
  LayerShape shape() const override;
  const Tensor& forward(NnOps& nn, const LayerTensors& p, const Tensor& x) override;
  const Tensor& backward(NnOps& nn, const LayerTensors& p, const Tensor& x, const Tensor& dy,
                         const LayerTensors& gradient,
                         const std::function<void()>& on_tensor) override;

 private:
  Options o_;
  Window window_;     // sliding window of the convolution
  Window transpose_;  // 1x1 window: with it im2col turns NCHW images into rows of pixels, and
                      // col2im does the reverse
  Window pool_;
  std::size_t pixels_, patch_;  // rows and columns of the unfolded input
  Tensor columns_, rows_, drows_, images_, y_, argmax_, dx_;
};

}  // namespace trigram
