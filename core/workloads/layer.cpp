#include "core/workloads/layer.h"

#include "core/check.h"

namespace trigram {
namespace {

class Dense final : public Layer {
 public:
  Dense(Device& device, std::size_t batch, const DenseOptions& options)
      : batch_(batch), o_(options), y_(device.empty(batch * o_.outputs)) {
    if (o_.input_gradient) dx_ = device.empty(batch * o_.inputs);
  }
  LayerShape shape() const override {
    return {o_.inputs, o_.outputs, o_.outputs * o_.inputs, o_.outputs, o_.inputs};
  }
  const Tensor& forward(NnOps& nn, const LayerTensors& p, const Tensor& x) override {
    nn.gemm({.m = batch_, .n = o_.outputs, .k = o_.inputs, .transpose_b = true}, x, p.weight, 0,
            y_);
    nn.bias(batch_, o_.outputs, y_, p.bias);
    if (o_.relu) nn.relu(y_);
    return y_;
  }
  const Tensor& backward(NnOps& nn, const LayerTensors& p, const Tensor& x, const Tensor& dy,
                         const LayerTensors& gradient,
                         const std::function<void()>& on_tensor) override {
    if (o_.relu) nn.relu_grad(y_, dy);
    nn.bias_grad(batch_, o_.outputs, dy, gradient.bias);
    on_tensor();
    nn.gemm({.m = o_.outputs, .n = o_.inputs, .k = batch_, .transpose_a = true}, dy, x, 0,
            gradient.weight);
    if (o_.input_gradient)
      nn.gemm({.m = batch_, .n = o_.inputs, .k = o_.outputs}, dy, p.weight, 0, dx_);
    on_tensor();
    return dx_;
  }

 private:
  std::size_t batch_;
  DenseOptions o_;
  Tensor y_, dx_;
};

class ConvPool final : public Layer {
 public:
  ConvPool(Device& device, std::size_t batch, const ConvPoolOptions& options)
      : o_(options),
        window_{.batch = batch,
                .channels = o_.channels,
                .height = o_.height,
                .width = o_.width,
                .kernel = o_.kernel,
                .padding = o_.kernel / 2},
        transpose_{.batch = batch, .channels = o_.filters, .height = o_.height, .width = o_.width},
        pool_{.batch = batch,
              .channels = o_.filters,
              .height = o_.height,
              .width = o_.width,
              .kernel = 2,
              .stride = 2},
        pixels_(batch * o_.height * o_.width),
        patch_(o_.channels * o_.kernel * o_.kernel) {
    TRIGRAM_CHECK(o_.kernel % 2 == 1 && o_.height >= 2 && o_.width >= 2,
                  "a kernel of {} on images of {}x{}", o_.kernel, o_.height, o_.width);
    const std::size_t pooled = batch * shape().outputs;
    columns_ = device.empty(pixels_ * patch_);
    rows_ = device.empty(pixels_ * o_.filters);
    drows_ = device.empty(pixels_ * o_.filters);
    images_ = device.empty(pixels_ * o_.filters);
    y_ = device.empty(pooled);
    argmax_ = device.empty(pooled);
    if (o_.input_gradient) dx_ = device.empty(pixels_ * o_.channels);
  }
  LayerShape shape() const override {
    return {o_.channels * o_.height * o_.width, o_.filters * pool_.out_height() * pool_.out_width(),
            o_.filters * patch_, o_.filters, patch_};
  }
  const Tensor& forward(NnOps& nn, const LayerTensors& p, const Tensor& x) override {
    nn.im2col(window_, x, columns_);
    nn.gemm({.m = pixels_, .n = o_.filters, .k = patch_, .transpose_b = true}, columns_, p.weight,
            0, rows_);
    nn.bias(pixels_, o_.filters, rows_, p.bias);
    nn.relu(rows_);
    nn.col2im(transpose_, rows_, images_);
    nn.max_pool(pool_, images_, y_, argmax_);
    return y_;
  }
  const Tensor& backward(NnOps& nn, const LayerTensors& p, const Tensor& /*x*/, const Tensor& dy,
                         const LayerTensors& gradient,
                         const std::function<void()>& on_tensor) override {
    nn.max_pool_grad(pool_, dy, argmax_, images_);  // overwrites the activations of `forward`
    nn.im2col(transpose_, images_, drows_);
    nn.relu_grad(rows_, drows_);
    nn.bias_grad(pixels_, o_.filters, drows_, gradient.bias);
    on_tensor();
    nn.gemm({.m = o_.filters, .n = patch_, .k = pixels_, .transpose_a = true}, drows_, columns_, 0,
            gradient.weight);
    if (o_.input_gradient) {
      nn.gemm({.m = pixels_, .n = patch_, .k = o_.filters}, drows_, p.weight, 0, columns_);
      nn.col2im(window_, columns_, dx_);
    }
    on_tensor();
    return dx_;
  }

 private:
  ConvPoolOptions o_;
  Window window_;     // sliding window of the convolution
  Window transpose_;  // 1x1 window: with it im2col turns NCHW images into rows of pixels, and
                      // col2im does the reverse
  Window pool_;
  std::size_t pixels_, patch_;  // rows and columns of the unfolded input
  Tensor columns_, rows_, drows_, images_, y_, argmax_, dx_;
};

}  // namespace

std::unique_ptr<Layer> dense_layer(Device& device, std::size_t batch, const DenseOptions& options) {
  return std::make_unique<Dense>(device, batch, options);
}

std::unique_ptr<Layer> conv_pool_layer(Device& device, std::size_t batch,
                                       const ConvPoolOptions& options) {
  return std::make_unique<ConvPool>(device, batch, options);
}

}  // namespace trigram
