#include "experiments/calibrate/device_probes.h"

#include <algorithm>

#include "core/random/philox.h"

namespace trigram {
namespace {

// Total size of the operands, in bytes: more than the caches of CPUs and GPUs hold.
constexpr std::size_t kColdBytes = std::size_t{128} << 20;
constexpr std::size_t kAlignment = 64;  // in bytes; the alignment of separately allocated tensors

std::size_t rounded_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

/// The operands of one operation: a vector, and a second vector or the code of the first.
struct ProbeOperands {
  Tensor x, y;
};

struct Operation {
  const char* name;
  bool codes;
  double x_passes, y_passes;  // number of passes over memory
  void (*run)(Device& device, Codec& codec, const ProbeOperands& o);
};

constexpr Operation kOperations[] = {
    {"sgd", false, 1, 2,
     [](Device& d, Codec&, const ProbeOperands& o) { d.update(SgdStep{.lr = 1}, o.y, o.x); }},
    {"axpby", false, 1, 2,
     [](Device& d, Codec&, const ProbeOperands& o) { d.axpby(1, o.x, 1, o.y); }},
    {"copy", false, 1, 1, [](Device& d, Codec&, const ProbeOperands& o) { d.copy(o.y, o.x); }},
    {"encode", true, 1, 1, [](Device&, Codec& c, const ProbeOperands& o) { c.encode(o.y, o.x); }},
    {"decode", true, 1, 1, [](Device&, Codec& c, const ProbeOperands& o) { c.decode(o.x, o.y); }},
};

/// A benchmark that takes the operands of its runs in turn from a buffer that is larger than the
/// caches, so that the operands of a run are not in the caches.
class DeviceExercise final : public BenchmarkCase {
 public:
  DeviceExercise(const Operation& operation, const Context& ctx, std::size_t n)
      : operation_(operation), device_(*ctx.device), codec_(device_.codec({})) {
    const Tensor x = device_.empty(n);
    const Tensor y = operation.codes ? codec_->empty_wire(device_, x) : x;
    x_stride_ = rounded_up(n, kAlignment / sizeof(float));
    y_stride_ = rounded_up(y.numel(), kAlignment / size_of(y.dtype()));
    const std::size_t count = std::max(kColdBytes / sizeof(float) / x_stride_, std::size_t{1});
    xs_ = device_.empty(count * x_stride_);
    ys_ = device_.empty(count * y_stride_, y.dtype());
    for (std::size_t i = 0; i < count; ++i)
      operands_.push_back(
          {xs_.slice(i * x_stride_, n), ys_.slice(i * y_stride_, y.numel(), y.priced_numel())});
  }
  /// Writes all operands, so that their memory is actually allocated.
  void fill() override {
    const auto& [x, y] = operands_.front();
    device_.fill_normal(x, Philox(1, 0, 0, Purpose::gradient_noise));
    operation_.codes ? codec_->encode(y, x) : device_.fill(y, 0);
    repeat(xs_, x_stride_);
    repeat(ys_, y_stride_);
  }
  void run() override {
    operation_.run(device_, *codec_, operands_[next_]);
    next_ = (next_ + 1) % operands_.size();
  }
  std::size_t wrong() const override { return 0; }  // other tests check the results
  double bus_factor() const override {
    return traffic() / static_cast<double>(operands_.front().x.nbytes());
  }

 private:
  /// Fills the tensor with repetitions of its first `period` elements, in few operations.
  void repeat(const Tensor& all, std::size_t period) {
    for (; period < all.numel(); period *= 2) {
      const std::size_t count = std::min(period, all.numel() - period);
      device_.copy(all.slice(period, count, count), all.slice(0, count, count));
    }
  }
  double traffic() const {
    const auto& [x, y] = operands_.front();
    return operation_.x_passes * static_cast<double>(x.priced_nbytes()) +
           operation_.y_passes * static_cast<double>(y.priced_nbytes());
  }

  const Operation& operation_;
  Device& device_;
  std::unique_ptr<Codec> codec_;
  Tensor xs_, ys_;
  std::size_t x_stride_ = 0, y_stride_ = 0;  // distance between successive operands, in elements
  std::vector<ProbeOperands> operands_;      // slices of xs_ and ys_
  std::size_t next_ = 0;
};

}  // namespace

const std::vector<BenchEntry>& device_probes() {
  static const std::vector<BenchEntry> entries = [] {
    std::vector<BenchEntry> all;
    for (const Operation& operation : kOperations) {
      BenchEntry e{operation.name, "device", "none"};
      e.make = [&operation](const Context& ctx, std::size_t n) {
        return std::make_unique<DeviceExercise>(operation, ctx, n);
      };
      all.push_back(std::move(e));
    }
    return all;
  }();
  return entries;
}

double gemm_flops(std::size_t side) {
  const auto n = static_cast<double>(side);
  return 2 * n * n * n;
}

double gemm_seconds(const Context& ctx, std::size_t side, const SizeRange& sizes) {
  const Tensor a = ctx.device->empty(side * side), b = ctx.device->empty(side * side),
               c = ctx.device->empty(side * side);
  ctx.device->fill(a, 1);
  ctx.device->fill(b, 1);
  return seconds_of(ctx, sizes, [&] { ctx.device->nn().gemm({side, side, side}, a, b, 0, c); });
}

}  // namespace trigram
