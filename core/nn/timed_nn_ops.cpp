#include "core/nn/timed_nn_ops.h"

#include <cmath>

namespace trigram {
namespace {

double product(std::size_t a, std::size_t b, std::size_t c = 1) {
  return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c);
}
double pixels(const Window& w) { return product(w.batch * w.channels, w.height, w.width); }
double out_pixels(const Window& w) {
  return product(w.batch * w.channels, w.out_height(), w.out_width());
}
// Priced elements per real element.
double price(const Tensor& x) {
  return x.numel() == 0 ? 1
                        : static_cast<double>(x.priced_numel()) / static_cast<double>(x.numel());
}
double taps(const Window& w) { return product(w.kernel, w.kernel); }

class TimedNnOps final : public NnOps {
 public:
  TimedNnOps(NnOps& inner, CostSink& costs) : inner_(inner), costs_(costs) {}

  void gemm(const Gemm& shape, const Tensor& a, const Tensor& b, float beta,
            const Tensor& c) override {
    inner_.gemm(shape, a, b, beta, c);
    const auto [m, n, k, ta, tb] = shape;
    // The FLOPs are 2 mnk if no tensor is priced: each of m, n and k is a dimension of two
    // matrices.
    const double ab = product(m, k) * price(a), bc = product(k, n) * price(b),
                 ac = product(m, n) * price(c);
    charge(c, ab + bc + (beta == 0 ? 1 : 2) * ac, 2 * std::sqrt(ab * bc * ac));
  }

  void orthonormalise(std::size_t count, std::size_t length, const Tensor& x,
                      Dependent dependent) override {
    inner_.orthonormalise(count, length, x, dependent);
    const double elements = product(count, length) * price(x);
    // Every vector is projected twice on each vector before it, on average on half of the vectors.
    // Each projection takes a product and a sum.
    charge(x, 2 * elements, 4 * static_cast<double>(count) * elements);
  }

  void normalise(std::size_t count, std::size_t length, const Tensor& x) override {
    inner_.normalise(count, length, x);
    const auto n = static_cast<double>(x.priced_numel());
    charge(x, 2 * n, 3 * n);
  }

  void bias(std::size_t rows, std::size_t cols, const Tensor& x, const Tensor& bias) override {
    inner_.bias(rows, cols, x, bias);
    charge(x, 2 * product(rows, cols) + static_cast<double>(cols), product(rows, cols));
  }

  void bias_grad(std::size_t rows, std::size_t cols, const Tensor& dx,
                 const Tensor& dbias) override {
    inner_.bias_grad(rows, cols, dx, dbias);
    charge(dbias, product(rows, cols) + static_cast<double>(cols), product(rows, cols));
  }

  void relu(const Tensor& x) override {
    inner_.relu(x);
    charge(x, 2 * static_cast<double>(x.priced_numel()), static_cast<double>(x.priced_numel()));
  }

  void relu_grad(const Tensor& y, const Tensor& dx) override {
    inner_.relu_grad(y, dx);
    charge(dx, 3 * static_cast<double>(dx.priced_numel()), static_cast<double>(dx.priced_numel()));
  }

  void im2col(const Window& window, const Tensor& images, const Tensor& columns) override {
    inner_.im2col(window, images, columns);
    charge(columns, pixels(window) + out_pixels(window) * taps(window), 0);
  }

  void col2im(const Window& window, const Tensor& columns, const Tensor& images) override {
    inner_.col2im(window, columns, images);
    const double covered = out_pixels(window) * taps(window);
    charge(images, pixels(window) + covered, covered);
  }

  void max_pool(const Window& window, const Tensor& x, const Tensor& y,
                const Tensor& argmax) override {
    inner_.max_pool(window, x, y, argmax);
    charge(y, pixels(window) + 2 * out_pixels(window), out_pixels(window) * taps(window));
  }

  void max_pool_grad(const Window& window, const Tensor& dy, const Tensor& argmax,
                     const Tensor& dx) override {
    inner_.max_pool_grad(window, dy, argmax, dx);
    charge(dx, pixels(window) + 2 * out_pixels(window), out_pixels(window));
  }

  void softmax_xent(std::size_t rows, std::size_t classes, const Tensor& logits,
                    const Tensor& labels, const Tensor& dlogits, const Tensor& loss) override {
    inner_.softmax_xent(rows, classes, logits, labels, dlogits, loss);
    charge(dlogits, 2 * product(rows, classes) + static_cast<double>(rows),
           20 * product(rows, classes));
  }

  void add(const Tensor& x, const Tensor& y) override {
    inner_.add(x, y);
    charge(y, 3 * static_cast<double>(y.priced_numel()), static_cast<double>(y.priced_numel()));
  }

  void embedding(std::size_t rows, std::size_t cols, const Tensor& table, const Tensor& indices,
                 const Tensor& y) override {
    inner_.embedding(rows, cols, table, indices, y);
    charge(y, 2 * product(rows, cols), 0);
  }

  void embedding_grad(std::size_t rows, std::size_t cols, const Tensor& dy, const Tensor& indices,
                      float beta, const Tensor& dtable) override {
    inner_.embedding_grad(rows, cols, dy, indices, beta, dtable);
    charge(dtable, product(rows, cols) + (beta == 0 ? 1 : 2) * product(256, cols),
           product(rows, cols));
  }

  void layer_norm(std::size_t rows, std::size_t cols, const Tensor& x, const Tensor& gain,
                  const Tensor& bias, const Tensor& normalised, const Tensor& scale,
                  const Tensor& y) override {
    inner_.layer_norm(rows, cols, x, gain, bias, normalised, scale, y);
    charge(y, 3 * product(rows, cols) + product(rows + 2 * cols, 1), 8 * product(rows, cols));
  }

  void layer_norm_grad(std::size_t rows, std::size_t cols, const Tensor& gain, const Tensor& scale,
                       const Tensor& dy, const Tensor& normalised, const Tensor& dx) override {
    inner_.layer_norm_grad(rows, cols, gain, scale, dy, normalised, dx);
    charge(dx, 4 * product(rows, cols) + product(rows + cols, 1), 10 * product(rows, cols));
  }

  void gelu(const Tensor& x, const Tensor& y) override {
    inner_.gelu(x, y);
    const auto n = static_cast<double>(y.priced_numel());
    charge(y, 2 * n, 30 * n);  // the exponential takes about 20
  }

  void gelu_grad(const Tensor& x, const Tensor& dx) override {
    inner_.gelu_grad(x, dx);
    const auto n = static_cast<double>(dx.priced_numel());
    charge(dx, 3 * n, 40 * n);
  }

  void attention(const Attention& shape, const Tensor& qkv, const Tensor& probabilities,
                 const Tensor& y) override {
    inner_.attention(shape, qkv, probabilities, y);
    // Two products and the softmax between them, for each sequence. The half of the products above
    // the diagonal is computed, too.
    const auto pairs = static_cast<double>(shape.pairs());
    charge(y, 4 * product(shape.rows(), shape.width()) + 4 * pairs,
           (4 * static_cast<double>(shape.head_width) + 25) * pairs,
           3 * static_cast<int>(shape.lengths.size()));
  }

  void attention_grad(const Attention& shape, const Tensor& qkv, const Tensor& probabilities,
                      const Tensor& dy, const Tensor& dprobabilities, const Tensor& dqkv) override {
    inner_.attention_grad(shape, qkv, probabilities, dy, dprobabilities, dqkv);
    // Four products and the gradient of the softmax, for each sequence.
    const auto pairs = static_cast<double>(shape.pairs());
    charge(dqkv, 8 * product(shape.rows(), shape.width()) + 7 * pairs,
           (8 * static_cast<double>(shape.head_width) + 5) * pairs,
           5 * static_cast<int>(shape.lengths.size()));
  }

  void gru(std::size_t rows, std::size_t cols, const Tensor& x, const Tensor& h,
           const Tensor& previous, const Tensor& gates, const Tensor& state) override {
    inner_.gru(rows, cols, x, h, previous, gates, state);
    charge(state, 11 * product(rows, cols), 80 * product(rows, cols));
  }

  void gru_grad(std::size_t rows, std::size_t cols, const Tensor& gates, const Tensor& h,
                const Tensor& previous, const Tensor& dstate, const Tensor& dx, const Tensor& dh,
                const Tensor& dprevious) override {
    inner_.gru_grad(rows, cols, gates, h, previous, dstate, dx, dh, dprevious);
    charge(dx, 14 * product(rows, cols), 20 * product(rows, cols));
  }

 private:
  /// Charges an operation that moves `elements` f32 values in total and produces `result`.
  void charge(const Tensor& result, double elements, double flops, int launches = 1) {
    if (result.priced_numel() == 0 || elements == 0) return;
    costs_.charge({elements * sizeof(float), flops, Cost::Kind::other, launches});
  }

  NnOps& inner_;
  CostSink& costs_;
};

}  // namespace

std::unique_ptr<NnOps> timed_nn_ops(NnOps& inner, CostSink& costs) {
  return std::make_unique<TimedNnOps>(inner, costs);
}

}  // namespace trigram
