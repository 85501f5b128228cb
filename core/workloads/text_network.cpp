#include "core/workloads/text_network.h"

#include "core/random/philox.h"

namespace trigram {
namespace {

/// The layers that one block consists of.
class Blocks {
 public:
  Blocks(Device& device, const TextArchitecture& architecture, const SequenceLengths& lengths)
      : device_(device), a_(architecture), lengths_(lengths), rows_(rows_of(lengths)) {}

  Layers all() const {
    Layers layers;
    for (std::size_t i = 0; i < a_.layers; ++i) {
      if (a_.kind == TextArchitecture::Kind::gru) {
        layers.push_back(dense(a_.width, 3 * a_.width));
        layers.push_back(recurrence_layer(device_, lengths_, a_.width));
      } else {
        layers.push_back(attention());
        layers.push_back(mlp());
      }
    }
    layers.push_back(layer_norm_layer(device_, rows_, a_.width));
    // Small logits make all bytes about equally likely at first.
    if (!a_.tied) layers.push_back(dense(a_.width, TextNetwork::kBytes, Activation::none, 16));
    return layers;
  }

 private:
  /// At first, the variance of its sums is that of its inputs, divided by `shrink`.
  std::unique_ptr<Layer> dense(std::size_t inputs, std::size_t outputs,
                               Activation activation = Activation::none,
                               std::size_t shrink = 1) const {
    return dense_layer(device_, rows_,
                       {.inputs = inputs,
                        .outputs = outputs,
                        .activation = activation,
                        .bound = variance_bound(inputs * shrink)});
  }
  // The two sums of each block share the variance that they add.
  std::unique_ptr<Layer> attention() const {
    Layers layers;
    layers.push_back(layer_norm_layer(device_, rows_, a_.width));
    layers.push_back(dense(a_.width, 3 * a_.width));
    layers.push_back(attention_layer(device_, lengths_, a_.heads, a_.width));
    layers.push_back(dense(a_.width, a_.width, Activation::none, 2 * a_.layers));
    return residual(std::move(layers));
  }
  std::unique_ptr<Layer> mlp() const {
    Layers layers;
    layers.push_back(layer_norm_layer(device_, rows_, a_.width));
    layers.push_back(dense(a_.width, 4 * a_.width, Activation::gelu));
    layers.push_back(dense(4 * a_.width, a_.width, Activation::none, 2 * a_.layers));
    return residual(std::move(layers));
  }

  Device& device_;
  const TextArchitecture& a_;
  const SequenceLengths& lengths_;
  std::size_t rows_;
};

}  // namespace

TextNetwork::TextNetwork(Device& device, const TextArchitecture& architecture,
                         const SequenceLengths& lengths)
    : rows_(rows_of(lengths)),
      width_(architecture.width),
      tied_(architecture.tied),
      body_(Blocks(device, architecture, lengths).all()),
      inputs_(device.empty(rows_, DType::u8)),
      labels_(device.empty(rows_, DType::u8)),
      embedded_(device.empty(rows_ * width_)),
      dlogits_(device.empty(rows_ * kBytes)),
      loss_(device.empty(1)) {
  if (!tied_) return;
  tied_logits_ = device.empty(rows_ * kBytes);
  dbody_ = device.empty(rows_ * width_);
}

std::vector<std::size_t> TextNetwork::tensor_lengths() const {
  std::vector<std::size_t> lengths = body_.tensor_lengths();
  lengths.push_back(kBytes * width_);
  return lengths;
}

std::vector<std::size_t> TextNetwork::tensor_rows() const {
  std::vector<std::size_t> rows = body_.tensor_rows();
  rows.push_back(1);
  return rows;
}

void TextNetwork::initialise(std::span<float> weights, std::uint64_t seed) const {
  body_.initialise(weights, seed);
  // A tied table also produces the logits, which should be small at first.
  const float bound = variance_bound(tied_ ? width_ : 1);
  Philox random(seed, 1, 0, Purpose::weights);
  for (float& w : weights.last(kBytes * width_)) w = bound * (2 * random.uniform() - 1);
}

Tensor TextNetwork::table(const Tensor& flat) const {
  const std::size_t length = kBytes * width_;
  return flat.slice(flat.numel() - length, length, length);
}

void TextNetwork::forward(NnOps& nn, const Tensor& weights) {
  nn.embedding(rows_, width_, table(weights), inputs_, embedded_);
  body_output_ = &body_.forward(nn, body_.tensors(weights), embedded_);
  if (tied_)
    nn.gemm({.m = rows_, .n = kBytes, .k = width_, .transpose_b = true}, *body_output_,
            table(weights), 0, tied_logits_);
  nn.softmax_xent(rows_, kBytes, logits(), labels_, dlogits_, loss_);
}

void TextNetwork::backward(NnOps& nn, const Tensor& weights, const Tensor& gradients,
                           const std::function<void()>& on_tensor) {
  if (tied_) {
    nn.gemm({.m = kBytes, .n = width_, .k = rows_, .transpose_a = true}, dlogits_, *body_output_, 0,
            table(gradients));
    nn.gemm({.m = rows_, .n = width_, .k = kBytes}, dlogits_, table(weights), 0, dbody_);
  }
  const Tensor& dembedded =
      body_.backward(nn, body_.tensors(weights), embedded_, tied_ ? dbody_ : dlogits_,
                     body_.tensors(gradients), on_tensor);
  nn.embedding_grad(rows_, width_, dembedded, inputs_, tied_ ? 1 : 0, table(gradients));
  on_tensor();
}

}  // namespace trigram
