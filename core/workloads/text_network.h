#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/workloads/layer_stack.h"
#include "core/workloads/text_layers.h"

namespace trigram {

/// A language model on bytes.
struct TextArchitecture {
  enum class Kind { transformer, gru };
  /// transformer: blocks x + attention(norm(x)), then x + mlp(norm(x)), where the mlp has 4 width
  /// hidden units with gelu (as GPT-2). gru: layers of gated recurrent units (arXiv 1406.1078).
  /// Both end with a layer norm and a dense layer with one output per byte.
  Kind kind = Kind::transformer;
  std::size_t width = 96, layers = 3;
  std::size_t heads = 4;  // of a transformer; must divide the width
  bool tied = false;      // the last layer has the embedding's table as its weights, and no bias

  RowOrder order() const {
    return kind == Kind::gru ? RowOrder::by_position : RowOrder::by_sequence;
  }
};

/// A language model for a mini-batch of sequences of the given lengths: forward, softmax
/// cross-entropy of the next byte, backward. The table of embeddings [256, width] is the last of
/// its tensors, the tensors of the last layer are the first.
class TextNetwork {
 public:
  TextNetwork(Device& device, const TextArchitecture& architecture, const SequenceLengths& lengths);

  /// Lengths of the parameter tensors, in their flat order.
  std::vector<std::size_t> tensor_lengths() const;
  /// Rows of the parameter tensors (TensorPlace). The table of embeddings counts as a vector.
  std::vector<std::size_t> tensor_rows() const;
  void initialise(std::span<float> weights, std::uint64_t seed) const;

  /// The caller fills these before forward, one u8 per row: the byte, and the byte that follows it.
  const Tensor& inputs() const { return inputs_; }
  const Tensor& labels() const { return labels_; }
  void forward(NnOps& nn, const Tensor& weights);
  void backward(NnOps& nn, const Tensor& weights, const Tensor& gradients,
                const std::function<void()>& on_tensor);
  /// Results of the last forward: 256 logits for each row, and the mean loss in nats.
  const Tensor& logits() const { return tied_ ? tied_logits_ : *body_output_; }
  const Tensor& loss() const { return loss_; }

  static constexpr std::size_t kBytes = 256;  // size of the vocabulary

 private:
  Tensor table(const Tensor& flat) const;

  std::size_t rows_, width_;
  bool tied_;
  LayerStack body_;
  Tensor inputs_, labels_, embedded_, tied_logits_, dlogits_, dbody_, loss_;
  const Tensor* body_output_ = nullptr;  // of the last forward
};

}  // namespace trigram
