#include "core/workloads/text_layers.h"

#include <numeric>

namespace trigram {
namespace {

class LayerNorm final : public Layer {
 public:
  LayerNorm(Device& device, std::size_t rows, std::size_t width)
      : rows_(rows),
        width_(width),
        normalised_(device.empty(rows * width)),
        scale_(device.empty(rows)),
        y_(device.empty(rows * width)),
        dx_(device.empty(rows * width)) {}
  std::vector<Parameter> parameters() const override {
    return {{.length = width_}, {.length = width_, .start = 1}};
  }
  const Tensor& forward(NnOps& nn, std::span<const Tensor> p, const Tensor& x) override {
    nn.layer_norm(rows_, width_, x, p[1], p[0], normalised_, scale_, y_);
    return y_;
  }
  const Tensor& backward(NnOps& nn, std::span<const Tensor> p, const Tensor& /*x*/,
                         const Tensor& dy, std::span<const Tensor> gradient,
                         const std::function<void()>& on_tensor) override {
    nn.bias_grad(rows_, width_, dy, gradient[0]);
    on_tensor();
    nn.layer_norm_grad(rows_, width_, p[1], scale_, dy, normalised_, dx_);
    nn.bias_grad(rows_, width_, normalised_, gradient[1]);
    on_tensor();
    return dx_;
  }

 private:
  std::size_t rows_, width_;
  Tensor normalised_, scale_, y_, dx_;
};

class AttentionLayer final : public Layer {
 public:
  AttentionLayer(Device& device, const SequenceLengths& lengths, std::size_t heads,
                 std::size_t width)
      : lengths_(lengths),
        shape_{.lengths = lengths_, .heads = heads, .head_width = width / heads} {
    const std::size_t n = shape_.rows() * width;
    probabilities_ = device.empty(shape_.pairs());
    dprobabilities_ = device.empty(shape_.pairs());
    y_ = device.empty(n);
    dx_ = device.empty(3 * n);
  }
  std::vector<Parameter> parameters() const override { return {}; }
  const Tensor& forward(NnOps& nn, std::span<const Tensor> /*p*/, const Tensor& x) override {
    nn.attention(shape_, x, probabilities_, y_);
    return y_;
  }
  const Tensor& backward(NnOps& nn, std::span<const Tensor> /*p*/, const Tensor& x,
                         const Tensor& dy, std::span<const Tensor> /*gradient*/,
                         const std::function<void()>& /*on_tensor*/) override {
    nn.attention_grad(shape_, x, probabilities_, dy, dprobabilities_, dx_);
    return dx_;
  }

 private:
  SequenceLengths lengths_;
  Attention shape_;
  Tensor probabilities_, dprobabilities_, y_, dx_;
};

/// Row `begin` is the first row of a position, which `count` sequences have. Because the longest
/// sequences come first, these are the first `count` sequences of the position before it.
struct Position {
  std::size_t begin = 0, count = 0;
};

std::vector<Position> positions_of(const SequenceLengths& lengths) {
  std::vector<Position> positions;
  std::size_t begin = 0, count = lengths.size();
  for (std::size_t t = 0; !lengths.empty() && t < lengths.front(); ++t) {
    while (lengths[count - 1] <= t) --count;
    positions.push_back({begin, count});
    begin += count;
  }
  return positions;
}

class Recurrence final : public Layer {
 public:
  Recurrence(Device& device, const SequenceLengths& lengths, std::size_t width)
      : rows_(rows_of(lengths)),
        width_(width),
        positions_(positions_of(lengths)),
        before_(device.empty(lengths.size() * width)),
        dbefore_(device.empty(lengths.size() * width)),
        h_(device.empty(3 * rows_ * width)),
        gates_(device.empty(3 * rows_ * width)),
        y_(device.empty(rows_ * width)),
        dx_(device.empty(3 * rows_ * width)) {
    // An upload, unlike `fill`, takes no time.
    device.upload(before_, std::vector<float>(before_.numel()));
    device.upload(dbefore_, std::vector<float>(before_.numel()));
  }
  std::vector<Parameter> parameters() const override {
    return {{.length = 3 * width_},
            {.length = 3 * width_ * width_, .bound = variance_bound(width_), .rows = 3 * width_}};
  }
  const Tensor& forward(NnOps& nn, std::span<const Tensor> p, const Tensor& x) override {
    for (std::size_t t = 0; t < positions_.size(); ++t) {
      const std::size_t n = positions_[t].count;
      const Tensor previous = state_before(y_, before_, t), h = gates_at(h_, t);
      nn.gemm({.m = n, .n = 3 * width_, .k = width_, .transpose_b = true}, previous, p[1], 0, h);
      nn.bias(n, 3 * width_, h, p[0]);
      nn.gru(n, width_, gates_at(x, t), h, previous, gates_at(gates_, t), state_at(y_, t));
    }
    return y_;
  }
  const Tensor& backward(NnOps& nn, std::span<const Tensor> p, const Tensor& /*x*/,
                         const Tensor& dy, std::span<const Tensor> gradient,
                         const std::function<void()>& on_tensor) override {
    // The gradients of the states accumulate in dy, those of h in h_.
    for (std::size_t t = positions_.size(); t-- > 0;) {
      const std::size_t n = positions_[t].count;
      const Tensor previous = state_before(y_, before_, t), h = gates_at(h_, t);
      const Tensor dprevious = state_before(dy, dbefore_, t);
      nn.gru_grad(n, width_, gates_at(gates_, t), h, previous, state_at(dy, t), gates_at(dx_, t), h,
                  dprevious);
      nn.gemm({.m = 3 * width_, .n = width_, .k = n, .transpose_a = true}, h, previous,
              t + 1 == positions_.size() ? 0 : 1, gradient[1]);
      if (t > 0) nn.gemm({.m = n, .n = width_, .k = 3 * width_}, h, p[1], 1, dprevious);
    }
    nn.bias_grad(rows_, 3 * width_, h_, gradient[0]);
    on_tensor();
    on_tensor();
    return dx_;
  }

 private:
  Tensor rows_at(const Tensor& x, std::size_t begin, std::size_t count, std::size_t cols) const {
    return x.slice(begin * cols, count * cols, count * cols);
  }
  Tensor state_at(const Tensor& x, std::size_t t) const {
    return rows_at(x, positions_[t].begin, positions_[t].count, width_);
  }
  Tensor gates_at(const Tensor& x, std::size_t t) const {
    return rows_at(x, positions_[t].begin, positions_[t].count, 3 * width_);
  }
  /// The rows, before position t, of the sequences that have a position t.
  Tensor state_before(const Tensor& x, const Tensor& first, std::size_t t) const {
    return t == 0 ? first : rows_at(x, positions_[t - 1].begin, positions_[t].count, width_);
  }

  std::size_t rows_, width_;
  std::vector<Position> positions_;
  Tensor before_, dbefore_;  // the states before the first position, and their unused gradients
  Tensor h_, gates_, y_, dx_;
};

}  // namespace

std::size_t rows_of(const SequenceLengths& lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
}

std::unique_ptr<Layer> layer_norm_layer(Device& device, std::size_t rows, std::size_t width) {
  return std::make_unique<LayerNorm>(device, rows, width);
}

std::unique_ptr<Layer> attention_layer(Device& device, const SequenceLengths& lengths,
                                       std::size_t heads, std::size_t width) {
  return std::make_unique<AttentionLayer>(device, lengths, heads, width);
}

std::unique_ptr<Layer> recurrence_layer(Device& device, const SequenceLengths& lengths,
                                        std::size_t width) {
  return std::make_unique<Recurrence>(device, lengths, width);
}

}  // namespace trigram
