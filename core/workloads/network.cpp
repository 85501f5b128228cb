#include "core/workloads/network.h"

namespace trigram {
namespace {

Layers make_layers(Device& device, const Architecture& a, std::size_t batch) {
  Layers layers;
  std::size_t channels = 1, height = a.height, width = a.width;
  // The first layer's input is data, whose gradient is not needed.
  for (std::size_t filters : a.filters) {
    layers.push_back(conv_pool_layer(device, batch,
                                     {.channels = channels,
                                      .height = height,
                                      .width = width,
                                      .filters = filters,
                                      .input_gradient = !layers.empty()}));
    channels = filters;
    height /= 2;
    width /= 2;
  }
  std::size_t inputs = channels * height * width;
  auto add_dense = [&](std::size_t outputs, bool relu) {
    layers.push_back(dense_layer(device, batch,
                                 {.inputs = inputs,
                                  .outputs = outputs,
                                  .activation = relu ? Activation::relu : Activation::none,
                                  .input_gradient = !layers.empty()}));
    inputs = outputs;
  };
  for (std::size_t hidden : a.hidden) add_dense(hidden, true);
  add_dense(a.classes, false);
  return layers;
}

}  // namespace

NeuralNetwork::NeuralNetwork(Device& device, const Architecture& architecture, std::size_t batch)
    : batch_(batch),
      classes_(architecture.classes),
      layers_(make_layers(device, architecture, batch)),
      images_(device.empty(batch * architecture.height * architecture.width)),
      labels_(device.empty(batch, DType::u8)),
      dlogits_(device.empty(batch * classes_)),
      loss_(device.empty(1)) {}

void NeuralNetwork::forward(NnOps& nn, const Tensor& weights) {
  logits_ = &layers_.forward(nn, layers_.tensors(weights), images_);
  nn.softmax_xent(batch_, classes_, logits(), labels_, dlogits_, loss_);
}

void NeuralNetwork::backward(NnOps& nn, const Tensor& weights, const Tensor& gradients,
                             const std::function<void()>& on_tensor) {
  layers_.backward(nn, layers_.tensors(weights), images_, dlogits_, layers_.tensors(gradients),
                   on_tensor);
}

}  // namespace trigram
