#include "core/workloads/network.h"

#include <cmath>

#include "core/random/philox.h"

namespace trigram {
namespace {

std::vector<std::unique_ptr<Layer>> make_layers(Device& device, const Architecture& a,
                                                std::size_t batch) {
  std::vector<std::unique_ptr<Layer>> layers;
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
    layers.push_back(dense_layer(
        device, batch,
        {.inputs = inputs, .outputs = outputs, .relu = relu, .input_gradient = !layers.empty()}));
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
      offsets_(layers_.size()),
      images_(device.empty(batch * architecture.height * architecture.width)),
      labels_(device.empty(batch, DType::u8)),
      dlogits_(device.empty(batch * classes_)),
      loss_(device.empty(1)),
      inputs_(layers_.size() + 1, &images_) {
  std::size_t offset = 0;
  for (std::size_t i = layers_.size(); i-- > 0;) {
    offsets_[i] = offset;
    offset += layers_[i]->shape().bias + layers_[i]->shape().weight;
  }
}

std::vector<std::size_t> NeuralNetwork::tensor_lengths() const {
  std::vector<std::size_t> lengths;
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
    lengths.push_back((*layer)->shape().bias);
    lengths.push_back((*layer)->shape().weight);
  }
  return lengths;
}

std::vector<std::size_t> NeuralNetwork::tensor_rows() const {
  std::vector<std::size_t> rows;
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
    const LayerShape shape = (*layer)->shape();
    rows.push_back(1);  // the bias
    rows.push_back(shape.weight / shape.fan_in);
  }
  return rows;
}

void NeuralNetwork::initialise(std::span<float> weights, std::uint64_t seed) const {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const LayerShape shape = layers_[i]->shape();
    const auto bias = weights.subspan(offsets_[i], shape.bias);
    std::fill(bias.begin(), bias.end(), 0.0f);
    const auto bound = static_cast<float>(std::sqrt(6.0 / static_cast<double>(shape.fan_in)));
    Philox random(seed, 0, static_cast<long>(i), Purpose::weights);
    for (float& w : weights.subspan(offsets_[i] + shape.bias, shape.weight))
      w = bound * (2 * random.uniform() - 1);
  }
}

void NeuralNetwork::forward(NnOps& nn, const Tensor& weights) {
  for (std::size_t i = 0; i < layers_.size(); ++i)
    inputs_[i + 1] = &layers_[i]->forward(nn, tensors(i, weights), *inputs_[i]);
  nn.softmax_xent(batch_, classes_, logits(), labels_, dlogits_, loss_);
}

void NeuralNetwork::backward(NnOps& nn, const Tensor& weights, const Tensor& gradients,
                             const std::function<void()>& on_tensor) {
  const Tensor* dy = &dlogits_;
  for (std::size_t i = layers_.size(); i-- > 0;)
    dy = &layers_[i]->backward(nn, tensors(i, weights), *inputs_[i], *dy, tensors(i, gradients),
                               on_tensor);
}

LayerTensors NeuralNetwork::tensors(std::size_t layer, const Tensor& flat) const {
  const LayerShape shape = layers_[layer]->shape();
  // The parts have the price of their real lengths, whatever the price of the flat vector.
  return {flat.slice(offsets_[layer], shape.bias, shape.bias),
          flat.slice(offsets_[layer] + shape.bias, shape.weight, shape.weight)};
}

}  // namespace trigram
