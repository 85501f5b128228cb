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

  void orthonormalise(std::size_t count, std::size_t length, const Tensor& x) override {
    inner_.orthonormalise(count, length, x);
    const double elements = product(count, length) * price(x);
    // Every vector is projected twice on each vector before it, on average on half of the vectors.
    // Each projection takes a product and a sum.
    charge(x, 2 * elements, 4 * static_cast<double>(count) * elements);
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

 private:
  /// Charges an operation that moves `elements` f32 values in total and produces `result`.
  void charge(const Tensor& result, double elements, double flops) {
    if (result.priced_numel() == 0 || elements == 0) return;
    costs_.charge({elements * sizeof(float), flops});
  }

  NnOps& inner_;
  CostSink& costs_;
};

}  // namespace

std::unique_ptr<NnOps> timed_nn_ops(NnOps& inner, CostSink& costs) {
  return std::make_unique<TimedNnOps>(inner, costs);
}

}  // namespace trigram
