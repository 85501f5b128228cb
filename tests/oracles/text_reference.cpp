#include "tests/oracles/text_reference.h"

#include <cmath>
#include <numbers>

namespace trigram::test {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// Takes the tensors of a flat vector one after the other.
class Tensors {
 public:
  explicit Tensors(std::span<const double> weights) : left_(weights) {}
  DoubleRow next(std::size_t length) {
    const DoubleRow tensor(left_.begin(), left_.begin() + static_cast<std::ptrdiff_t>(length));
    left_ = left_.subspan(length);
    return tensor;
  }

 private:
  std::span<const double> left_;
};

struct Dense {
  Dense(Tensors& tensors, std::size_t inputs, std::size_t outputs)
      : bias(tensors.next(outputs)), weight(tensors.next(outputs * inputs)) {}
  DoubleRow operator()(const DoubleRow& x) const {
    DoubleRow y = bias;
    for (std::size_t o = 0; o < y.size(); ++o)
      for (std::size_t i = 0; i < x.size(); ++i) y[o] += weight[o * x.size() + i] * x[i];
    return y;
  }
  DoubleRow bias, weight;
};

struct Norm {
  Norm(Tensors& tensors, std::size_t width)
      : bias(tensors.next(width)), gain(tensors.next(width)) {}
  DoubleRow operator()(const DoubleRow& x) const { return reference_layer_norm(x, gain, bias); }
  DoubleRow bias, gain;
};

void add_to(DoubleRow& x, const DoubleRow& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

struct Block {
  Block(Tensors& t, std::size_t width)
      : narrow(t, 4 * width, width),
        wide(t, width, 4 * width),
        second(t, width),
        after(t, width, width),
        before(t, width, 3 * width),
        first(t, width) {}
  void operator()(DoubleRows& x, std::size_t heads) const {
    DoubleRows qkv;
    for (const DoubleRow& row : x) qkv.push_back(before(first(row)));
    const DoubleRows attended = reference_attention(qkv, heads);
    for (std::size_t r = 0; r < x.size(); ++r) {
      add_to(x[r], after(attended[r]));
      DoubleRow hidden = wide(second(x[r]));
      for (double& h : hidden) h = reference_gelu(h);
      add_to(x[r], narrow(hidden));
    }
  }
  Dense narrow, wide;
  Norm second;
  Dense after, before;
  Norm first;
};

struct Recurrent {
  Recurrent(Tensors& t, std::size_t width)
      : state(t, width, 3 * width), input(t, width, 3 * width) {}
  void operator()(DoubleRows& x) const {
    DoubleRow previous(x.front().size());
    for (DoubleRow& row : x) row = previous = reference_gru(input(row), state(previous), previous);
  }
  Dense state, input;
};

}  // namespace

double reference_gelu(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

DoubleRow reference_layer_norm(const DoubleRow& x, const DoubleRow& gain, const DoubleRow& bias) {
  const auto n = static_cast<double>(x.size());
  double mean = 0, variance = 0;
  for (const double v : x) mean += v / n;
  for (const double v : x) variance += (v - mean) * (v - mean) / n;
  DoubleRow y(x.size());
  for (std::size_t c = 0; c < x.size(); ++c)
    y[c] = gain[c] * (x[c] - mean) / std::sqrt(variance + 1e-5) + bias[c];
  return y;
}

DoubleRows reference_attention(const DoubleRows& qkv, std::size_t heads) {
  const std::size_t width = qkv.front().size() / 3, d = width / heads;
  DoubleRows y(qkv.size(), DoubleRow(width));
  for (std::size_t h = 0; h < heads; ++h) {
    const double slope = std::pow(2, -8 * static_cast<double>(h + 1) / static_cast<double>(heads));
    for (std::size_t i = 0; i < qkv.size(); ++i) {
      DoubleRow p(i + 1);
      double sum = 0;
      for (std::size_t j = 0; j <= i; ++j) {
        double product = 0;
        for (std::size_t c = h * d; c < (h + 1) * d; ++c) product += qkv[i][c] * qkv[j][width + c];
        p[j] = std::exp(product / std::sqrt(static_cast<double>(d)) -
                        slope * static_cast<double>(i - j));
        sum += p[j];
      }
      for (std::size_t j = 0; j <= i; ++j)
        for (std::size_t c = h * d; c < (h + 1) * d; ++c)
          y[i][c] += p[j] / sum * qkv[j][2 * width + c];
    }
  }
  return y;
}

DoubleRow reference_gru(const DoubleRow& x, const DoubleRow& h, const DoubleRow& previous) {
  const std::size_t width = previous.size();
  DoubleRow state(width);
  for (std::size_t c = 0; c < width; ++c) {
    const double reset = sigmoid(x[c] + h[c]), update = sigmoid(x[width + c] + h[width + c]);
    const double candidate = std::tanh(x[2 * width + c] + reset * h[2 * width + c]);
    state[c] = (1 - update) * candidate + update * previous[c];
  }
  return state;
}

double reference_text_loss(const ReferenceText& model, std::span<const std::string> lines,
                           std::span<const double> weights) {
  const DoubleRow table(weights.end() - static_cast<std::ptrdiff_t>(256 * model.width),
                        weights.end());
  Tensors tensors(weights);
  std::vector<Dense> last;
  if (!model.tied) last.emplace_back(tensors, model.width, 256);
  const Norm norm(tensors, model.width);
  std::vector<Block> blocks;  // the last block first
  std::vector<Recurrent> recurrent;
  for (std::size_t i = 0; i < model.layers; ++i) {
    if (model.gru) recurrent.emplace_back(tensors, model.width);
    else blocks.emplace_back(tensors, model.width);
  }
  const auto entry = [&](unsigned char byte) {
    const auto begin = table.begin() + static_cast<std::ptrdiff_t>(byte * model.width);
    return DoubleRow(begin, begin + static_cast<std::ptrdiff_t>(model.width));
  };
  double loss = 0, bytes = 0;
  for (const std::string& line : lines) {
    const std::string ended = '\n' + line + '\n';
    DoubleRows x;
    for (std::size_t t = 0; t + 1 < ended.size(); ++t)
      x.push_back(entry(static_cast<unsigned char>(ended[t])));
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) (*block)(x, model.heads);
    for (auto layer = recurrent.rbegin(); layer != recurrent.rend(); ++layer) (*layer)(x);
    for (std::size_t t = 0; t < x.size(); ++t) {
      const DoubleRow y = norm(x[t]);
      DoubleRow logits(256);
      if (!model.tied) logits = last.front()(y);
      else
        for (std::size_t b = 0; b < 256; ++b)
          for (std::size_t c = 0; c < model.width; ++c)
            logits[b] += table[b * model.width + c] * y[c];
      double sum = 0;
      for (const double logit : logits) sum += std::exp(logit);
      loss += std::log(sum) - logits[static_cast<unsigned char>(ended[t + 1])];
      bytes += 1;
    }
  }
  return loss / bytes;
}

}  // namespace trigram::test
