#include "core/workloads/layer_stack.h"

#include "core/random/philox.h"

namespace trigram {
namespace {

class Residual final : public Layer {
 public:
  explicit Residual(Layers layers) : stack_(std::move(layers)) {}
  std::vector<Parameter> parameters() const override { return stack_.parameters(); }
  const Tensor& forward(NnOps& nn, std::span<const Tensor> p, const Tensor& x) override {
    const Tensor& y = stack_.forward(nn, p, x);
    nn.add(x, y);  // a layer without activation does not read its output again
    return y;
  }
  const Tensor& backward(NnOps& nn, std::span<const Tensor> p, const Tensor& x, const Tensor& dy,
                         std::span<const Tensor> gradient,
                         const std::function<void()>& on_tensor) override {
    const Tensor& dx = stack_.backward(nn, p, x, dy, gradient, on_tensor);
    nn.add(dy, dx);
    return dx;
  }

 private:
  LayerStack stack_;
};

}  // namespace

LayerStack::LayerStack(Layers layers)
    : layers_(std::move(layers)), first_(layers_.size()), inputs_(layers_.size()) {
  std::size_t first = 0;
  for (std::size_t i = layers_.size(); i-- > 0;) {
    first_[i] = first;
    first += layers_[i]->parameters().size();
  }
}

std::vector<Parameter> LayerStack::parameters() const {
  std::vector<Parameter> all;
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
    const auto own = (*layer)->parameters();
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

std::vector<std::size_t> LayerStack::tensor_lengths() const {
  std::vector<std::size_t> lengths;
  for (const Parameter& p : parameters()) lengths.push_back(p.length);
  return lengths;
}

std::vector<std::size_t> LayerStack::tensor_rows() const {
  std::vector<std::size_t> rows;
  for (const Parameter& p : parameters()) rows.push_back(p.rows);
  return rows;
}

std::vector<Tensor> LayerStack::tensors(const Tensor& flat) const {
  std::vector<Tensor> parts;
  std::size_t begin = 0;
  for (const std::size_t length : tensor_lengths()) {
    parts.push_back(flat.slice(begin, length, length));
    begin += length;
  }
  return parts;
}

void LayerStack::initialise(std::span<float> weights, std::uint64_t seed) const {
  std::size_t begin = 0;
  for (std::size_t i = layers_.size(); i-- > 0;) {
    Philox random(seed, 0, static_cast<long>(i), Purpose::weights);
    for (const Parameter& p : layers_[i]->parameters()) {
      for (float& w : weights.subspan(begin, p.length))
        w = p.bound == 0 ? p.start : p.start + p.bound * (2 * random.uniform() - 1);
      begin += p.length;
    }
  }
}

const Tensor& LayerStack::forward(NnOps& nn, std::span<const Tensor> p, const Tensor& x) {
  const Tensor* y = &x;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    inputs_[i] = y;
    y = &layers_[i]->forward(nn, p.subspan(first_[i]), *y);
  }
  return *y;
}

const Tensor& LayerStack::backward(NnOps& nn, std::span<const Tensor> p, const Tensor& /*x*/,
                                   const Tensor& dy, std::span<const Tensor> gradient,
                                   const std::function<void()>& on_tensor) {
  const Tensor* d = &dy;
  for (std::size_t i = layers_.size(); i-- > 0;)
    d = &layers_[i]->backward(nn, p.subspan(first_[i]), *inputs_[i], *d,
                              gradient.subspan(first_[i]), on_tensor);
  return *d;
}

std::unique_ptr<Layer> residual(Layers layers) {
  return std::make_unique<Residual>(std::move(layers));
}

}  // namespace trigram
