#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "core/config/component.h"
#include "core/optimizers/registry.h"
#include "core/random/philox.h"
#include "core/workloads/bucketing.h"

namespace trigram::test {

/// Matrices and vectors of many sizes, with random weights and gradients and without data.
class MixedTensors final : public FlatWorkload {
 public:
  struct Shape {
    std::size_t rows, columns;  // one row: a vector
    std::size_t numel() const { return rows * columns; }
  };
  /// Some tensors are longer than the ranges in which norms are summed; some have one element.
  static std::vector<Shape> shapes() {
    return {{1, 1}, {7, 3},  {1, 7},   {64, 16},  {1, 1025}, {3, 5},  {1, 130},
            {2, 1}, {1, 64}, {40, 80}, {1, 4097}, {90, 60},  {1, 333}};
  }
  explicit MixedTensors(Device& device)
      : FlatWorkload(device, lengths(), total(), {}, rows()), device_(device) {
    device.fill_normal(weights(), Philox(1, 0, 0, Purpose::weights));
  }
  /// Gradients of different sizes, as layers have them. A few are 0.
  void draw_gradients(long step) {
    device_.fill_normal(gradients(), Philox(1, 0, step, Purpose::gradient_noise));
    float scale = 1;
    std::size_t begin = 0;
    for (const Shape& shape : shapes()) {
      const Tensor g = gradients().slice(begin, shape.numel());
      device_.axpby(scale, g, 0, g);
      if (shape.numel() > 20) device_.fill(g.slice(5, 3), 0);
      scale = scale > 0.01f ? scale / 3 : 10;
      begin += shape.numel();
    }
  }
  void forward(Context) override {}
  void backward(Context, const std::function<void(Bucket&)>&) override {}
  bool has_values() const override { return true; }
  std::size_t batch() const override { return 1; }

 private:
  static std::vector<std::size_t> lengths() {
    std::vector<std::size_t> all;
    for (const Shape& shape : shapes()) all.push_back(shape.numel());
    return all;
  }
  static std::vector<std::size_t> rows() {
    std::vector<std::size_t> all;
    for (const Shape& shape : shapes()) all.push_back(shape.rows);
    return all;
  }
  static std::size_t total() {
    const auto all = lengths();
    return std::accumulate(all.begin(), all.end(), std::size_t{0});
  }
  Device& device_;
};

/// The optimizer of a reference such as {"name": "lamb", "lr": 0.1}.
inline std::unique_ptr<Optimizer> make_optimizer(const Json& reference, const Context& ctx,
                                                 Workload& workload, long steps = 100) {
  const Json resolved = resolve_component(optimizers(), "optimizer", reference, "/optimizer");
  return find_component(optimizers(), "optimizer", reference, "")
      .make(component_options(resolved), ctx, workload, steps);
}

}  // namespace trigram::test
