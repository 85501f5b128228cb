// The device of a world computes the defined results, and changes only its operands.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "core/random/philox.h"
#include "tests/support/worlds.h"

namespace trigram::test {
namespace {

class DeviceTest : public WorldTest {};
INSTANTIATE_TEST_SUITE_P(Conformance10, DeviceTest, every_world(1, 3), world_test_name);

constexpr std::size_t kMargin = 33;
constexpr float kSentinel = -12345.0f;
const std::size_t kLengths[] = {0, 1, 7, 1000, 4099};

/// A tensor between two margins of sentinels.
class Guarded {
 public:
  Guarded(const Context& ctx, std::size_t n, const std::function<float(std::size_t)>& value)
      : device_(*ctx.device),
        buffer_(device_.empty(n + 2 * kMargin)),
        tensor_(buffer_.slice(kMargin, n)) {
    std::vector<float> values(n + 2 * kMargin, kSentinel);
    for (std::size_t i = 0; i < n; ++i) values[kMargin + i] = value(i);
    device_.upload(buffer_, values);
  }
  const Tensor& operator*() const { return tensor_; }
  /// Expects `expected(i)` to within 1e-6 relative, and unchanged margins.
  void expect(const std::function<double(std::size_t)>& expected) const {
    const std::size_t n = tensor_.numel();
    const auto values = device_.download(buffer_);
    for (std::size_t i = 0; i < n; ++i) {
      const double want = expected(i);
      ASSERT_NEAR(values[kMargin + i], want, 1e-6 * (1 + std::abs(want))) << "element " << i;
    }
    for (std::size_t i = 0; i < kMargin; ++i) {
      ASSERT_EQ(values[i], kSentinel);
      ASSERT_EQ(values[kMargin + n + i], kSentinel);
    }
  }

 private:
  Device& device_;
  Tensor buffer_, tensor_;
};

float a(std::size_t i) { return std::sin(static_cast<float>(i)) * 3; }
float b(std::size_t i) { return std::cos(static_cast<float>(i) * 1.7f); }
float positive(std::size_t i) { return 0.1f + b(i) * b(i); }

TEST_P(DeviceTest, FillCopyAxpbyMaximumCut) {
  run([](Context ctx) {
    for (std::size_t n : kLengths) {
      Guarded x(ctx, n, a), y(ctx, n, b);
      ctx.device->axpby(2, *x, -0.5f, *y);
      y.expect([](std::size_t i) { return 2.0 * a(i) - 0.5 * b(i); });
      ctx.device->axpby(3, *x, 0, *y);
      y.expect([](std::size_t i) { return 3.0 * a(i); });
      ctx.device->copy(*y, *x);
      y.expect(a);
      Guarded z(ctx, n, b);
      ctx.device->maximum(*x, *z);
      z.expect([](std::size_t i) { return std::max(a(i), b(i)); });
      ctx.device->cut_below(0.5f, *z);
      z.expect([](std::size_t i) {
        const double larger = std::max(a(i), b(i));
        return std::abs(larger) < 0.5 ? 0 : larger;
      });
      ctx.device->fill(*z, 0.25f);
      z.expect([](std::size_t) { return 0.25; });
      x.expect(a);
    }
  });
}

TEST_P(DeviceTest, NormalNumbersAreThoseOfTheGenerator) {
  run([](Context ctx) {
    for (std::size_t n : kLengths) {
      Guarded x(ctx, n, a);
      ctx.device->fill_normal(*x, Philox(3, 1, 4, Purpose::codec));
      Philox random(3, 1, 4, Purpose::codec);
      std::vector<double> drawn(n);
      for (double& v : drawn) v = random.normal();
      x.expect([&](std::size_t i) { return drawn[i]; });
    }
  });
}

TEST_P(DeviceTest, Norm) {
  run([](Context ctx) {
    for (std::size_t n : kLengths) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += double{a(i)} * a(i);
      Guarded x(ctx, n, a);
      EXPECT_NEAR(ctx.device->norm2(*x), std::sqrt(sum), 1e-6 * (1 + std::sqrt(sum)));
    }
  });
}

TEST_P(DeviceTest, SgdStep) {
  run([](Context ctx) {
    constexpr double kLr = 0.1, kMomentum = 0.9, kDecay = 0.01;
    const auto momentum = [](std::size_t i) {
      return kMomentum * positive(i) + b(i) + kDecay * a(i);
    };
    for (std::size_t n : kLengths) {
      Guarded w(ctx, n, a), g(ctx, n, b), m(ctx, n, positive);
      ctx.device->update(MomentumStep{.lr = kLr, .momentum = kMomentum, .weight_decay = kDecay}, *w,
                         *g, {*m});
      m.expect(momentum);
      w.expect([&](std::size_t i) { return a(i) - kLr * momentum(i); });
      g.expect(b);
    }
  });
}

TEST_P(DeviceTest, AdamStep) {
  run([](Context ctx) {
    AdamStep step{.lr = 0.01f, .beta1 = 0.9f, .beta2 = 0.99f, .eps = 1e-3f};
    step.correction1 = 0.19f;
    step.correction2 = 0.0199f;
    const auto m1 = [&](std::size_t i) { return 0.9 * b(i + 5) + 0.1 * b(i); };
    const auto v1 = [&](std::size_t i) { return 0.99 * positive(i) + 0.01 * b(i) * b(i); };
    for (std::size_t n : kLengths) {
      Guarded w(ctx, n, a), g(ctx, n, b), v(ctx, n, positive);
      Guarded m(ctx, n, [](std::size_t i) { return b(i + 5); });
      ctx.device->update(step, *w, *g, {*m, *v});
      m.expect(m1);
      v.expect(v1);
      w.expect([&](std::size_t i) {
        return a(i) - 0.01 * (m1(i) / 0.19) / (std::sqrt(v1(i) / 0.0199) + 1e-3);
      });
    }
  });
}

TEST_P(DeviceTest, CodecsKeepTheirLength) {
  run([](Context ctx) {
    const auto codec = ctx.device->codec({"minmax_uint8"});
    for (std::size_t n : kLengths) {
      Guarded x(ctx, n, a), back(ctx, n, b);
      const Tensor wire = codec->empty_wire(*ctx.device, *x);
      ASSERT_EQ(wire.numel(), codec->wire_bytes(n));
      codec->encode(wire, *x);
      codec->decode(*back, wire);
      const auto decoded = ctx.device->download(*back);
      for (std::size_t i = 0; i < n; ++i)  // 256 values between -3 and 3
        ASSERT_NEAR(decoded[i], a(i), 6.0 / 255) << "element " << i;
      x.expect(a);
    }
  });
}

TEST_P(DeviceTest, TensorsKeepTheirPrice) {
  run([](Context ctx) {
    const Tensor x = ctx.device->empty(10, DType::f16, 1000);
    EXPECT_EQ(x.nbytes(), 20u);
    EXPECT_EQ(x.priced_nbytes(), 2000u);
    const Tensor like = ctx.device->empty_like(x);
    EXPECT_EQ(like.nbytes(), 20u);
    EXPECT_EQ(like.priced_nbytes(), 2000u);
  });
}

}  // namespace
}  // namespace trigram::test
