#include "experiments/calibrate/device_probes.h"

namespace trigram {
namespace {

/// An operation on x = 0 and y = 1.
struct VectorOperation {
  const char* name;
  double passes;  // over memory
  float result;   // what y is then
  void (*run)(Device& device, const Tensor& x, const Tensor& y);
};

constexpr VectorOperation kVectorOperations[] = {
    {"sgd", 3, 1, [](Device& d, const Tensor& x, const Tensor& y) { d.sgd({.lr = 1}, y, x, {}); }},
    {"axpby", 3, 1, [](Device& d, const Tensor& x, const Tensor& y) { d.axpby(1, x, 1, y); }},
    {"copy", 2, 0, [](Device& d, const Tensor& x, const Tensor& y) { d.copy(y, x); }},
};

class VectorExercise final : public Exercise {
 public:
  VectorExercise(const VectorOperation& operation, const Context& ctx, std::size_t n)
      : operation_(operation), device_(*ctx.device), x_(device_.empty(n)), y_(device_.empty(n)) {}
  void fill() override {
    device_.fill(x_, 0);
    device_.fill(y_, 1);
  }
  void run() override { operation_.run(device_, x_, y_); }
  std::size_t wrong() const override {
    std::size_t count = 0;
    for (const float y : device_.download(y_)) count += y != operation_.result;
    return count;
  }
  double bus_factor() const override { return operation_.passes; }

 private:
  const VectorOperation& operation_;
  Device& device_;
  Tensor x_, y_;
};

BenchEntry entry(const VectorOperation& operation) {
  BenchEntry e{operation.name, "device", "none"};
  e.make = [&operation](const Context& ctx, std::size_t n) {
    return std::make_unique<VectorExercise>(operation, ctx, n);
  };
  return e;
}

}  // namespace

const std::vector<BenchEntry>& device_probes() {
  static const std::vector<BenchEntry> entries = [] {
    std::vector<BenchEntry> all;
    for (const VectorOperation& operation : kVectorOperations) all.push_back(entry(operation));
    for (const BenchEntry& codec : codec_benches())
      if (codec.algorithm == CodecSpec{}.name) all.push_back(codec);
    return all;
  }();
  return entries;
}

double gemm_flops(std::size_t side) {
  const auto n = static_cast<double>(side);
  return 2 * n * n * n;
}

double gemm_seconds(const Context& ctx, std::size_t side, const Ladder& ladder) {
  const Tensor a = ctx.device->empty(side * side), b = ctx.device->empty(side * side),
               c = ctx.device->empty(side * side);
  ctx.device->fill(a, 1);
  ctx.device->fill(b, 1);
  std::vector<double> seconds;
  for (int i = 0; i <= ladder.iterations; ++i) {
    const double begin_s = ctx.stream->now();
    ctx.device->nn().gemm({side, side, side}, a, b, 0, c);
    ctx.stream->synchronize();
    if (i > 0) seconds.push_back(ctx.stream->now() - begin_s);  // the first warms up
  }
  return quantile(std::move(seconds), ladder.quantile);
}

}  // namespace trigram
