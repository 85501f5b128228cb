#include "experiments/calibrate/device_probes.h"

namespace trigram {
namespace {

class Stream3 final : public Exercise {
 public:
  Stream3(const Context& ctx, std::size_t n)
      : device_(*ctx.device), x_(device_.empty(n)), y_(device_.empty(n)) {}
  void fill() override {
    device_.fill(x_, 0);
    device_.fill(y_, 1);
  }
  void run() override { device_.axpby(1, x_, 1, y_); }
  std::size_t wrong() const override {
    std::size_t count = 0;
    for (const float y : device_.download(y_)) count += y != 1;
    return count;
  }
  double bus_factor() const override { return 3; }

 private:
  Device& device_;
  Tensor x_, y_;
};

}  // namespace

const BenchEntry& stream_probe() {
  static const BenchEntry entry = [] {
    BenchEntry e{"axpby", "device", "none"};
    e.make = [](const Context& ctx, std::size_t n) { return std::make_unique<Stream3>(ctx, n); };
    return e;
  }();
  return entry;
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
