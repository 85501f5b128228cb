#include "core/workloads/layer.h"

#include <cmath>

#include "core/check.h"

namespace trigram {
namespace {

class Dense final : public Layer {
 public:
  Dense(Device& device, std::size_t batch, const DenseOptions& options)
      : batch_(batch), o_(options), sums_(device.empty(batch * o_.outputs)), y_(sums_) {
    if (o_.activation == Activation::gelu) y_ = device.empty(batch * o_.outputs);
    if (o_.input_gradient) dx_ = device.empty(batch * o_.inputs);
  }
  std::vector<Parameter> parameters() const override {
    return {{.length = o_.outputs},
            {.length = o_.outputs * o_.inputs,
             .bound = o_.bound == 0 ? he_bound(o_.inputs) : o_.bound,
             .rows = o_.outputs}};
  }
  const Tensor& forward(NnOps& nn, std::span<const Tensor> p, const Tensor& x) override {
    nn.gemm({.m = batch_, .n = o_.outputs, .k = o_.inputs, .transpose_b = true}, x, p[1], 0, sums_);
    nn.bias(batch_, o_.outputs, sums_, p[0]);
    if (o_.activation == Activation::relu) nn.relu(y_);
    if (o_.activation == Activation::gelu) nn.gelu(sums_, y_);
    return y_;
  }
  const Tensor& backward(NnOps& nn, std::span<const Tensor> p, const Tensor& x, const Tensor& dy,
                         std::span<const Tensor> gradient,
                         const std::function<void()>& on_tensor) override {
    if (o_.activation == Activation::relu) nn.relu_grad(y_, dy);
    if (o_.activation == Activation::gelu) nn.gelu_grad(sums_, dy);
    nn.bias_grad(batch_, o_.outputs, dy, gradient[0]);
    on_tensor();
    nn.gemm({.m = o_.outputs, .n = o_.inputs, .k = batch_, .transpose_a = true}, dy, x, 0,
            gradient[1]);
    if (o_.input_gradient)
      nn.gemm({.m = batch_, .n = o_.inputs, .k = o_.outputs}, dy, p[1], 0, dx_);
    on_tensor();
    return dx_;
  }

 private:
  std::size_t batch_;
  DenseOptions o_;
  Tensor sums_, y_, dx_;  // sums_ is y_ unless the activation's gradient needs its input
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
    const std::size_t pooled = batch * o_.filters * pool_.out_height() * pool_.out_width();
    columns_ = device.empty(pixels_ * patch_);
    rows_ = device.empty(pixels_ * o_.filters);
    drows_ = device.empty(pixels_ * o_.filters);
    images_ = device.empty(pixels_ * o_.filters);
    y_ = device.empty(pooled);
    argmax_ = device.empty(pooled);
    if (o_.input_gradient) dx_ = device.empty(pixels_ * o_.channels);
  }
  std::vector<Parameter> parameters() const override {
    return {{.length = o_.filters},
            {.length = o_.filters * patch_, .bound = he_bound(patch_), .rows = o_.filters}};
  }
  const Tensor& forward(NnOps& nn, std::span<const Tensor> p, const Tensor& x) override {
    nn.im2col(window_, x, columns_);
    nn.gemm({.m = pixels_, .n = o_.filters, .k = patch_, .transpose_b = true}, columns_, p[1], 0,
            rows_);
    nn.bias(pixels_, o_.filters, rows_, p[0]);
    nn.relu(rows_);
    nn.col2im(transpose_, rows_, images_);
    nn.max_pool(pool_, images_, y_, argmax_);
    return y_;
  }
  const Tensor& backward(NnOps& nn, std::span<const Tensor> p, const Tensor& /*x*/,
                         const Tensor& dy, std::span<const Tensor> gradient,
                         const std::function<void()>& on_tensor) override {
    nn.max_pool_grad(pool_, dy, argmax_, images_);  // overwrites the activations of `forward`
    nn.im2col(transpose_, images_, drows_);
    nn.relu_grad(rows_, drows_);
    nn.bias_grad(pixels_, o_.filters, drows_, gradient[0]);
    on_tensor();
    nn.gemm({.m = o_.filters, .n = patch_, .k = pixels_, .transpose_a = true}, drows_, columns_, 0,
            gradient[1]);
    if (o_.input_gradient) {
      nn.gemm({.m = pixels_, .n = patch_, .k = o_.filters}, drows_, p[1], 0, columns_);
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

float he_bound(std::size_t fan_in) {
  return static_cast<float>(std::sqrt(6.0 / static_cast<double>(fan_in)));
}

float variance_bound(std::size_t fan_in) {
  return static_cast<float>(std::sqrt(3.0 / static_cast<double>(fan_in)));
}

std::unique_ptr<Layer> dense_layer(Device& device, std::size_t batch, const DenseOptions& options) {
  return std::make_unique<Dense>(device, batch, options);
}

std::unique_ptr<Layer> conv_pool_layer(Device& device, std::size_t batch,
                                       const ConvPoolOptions& options) {
  return std::make_unique<ConvPool>(device, batch, options);
}

}  // namespace trigram
