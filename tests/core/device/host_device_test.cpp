#include "core/device/host_device.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "core/check.h"
#include "core/device/null_device.h"
#include "core/random/philox.h"

namespace trigram::test::host_device_test {
namespace {

// Lengths around those of vector registers and of unrolled loops.
const std::size_t kLengths[] = {0, 1, 3, 4, 7, 8, 9, 31, 33, 1000, 4099};

class HostDeviceTest : public testing::Test {
 protected:
  Tensor normals(std::size_t n, long stream = 0) {
    Philox random(1, 0, stream, Purpose::data_set);
    Tensor x = device.empty(n);
    for (float& v : x.floats()) v = random.normal();
    return x;
  }
  static std::vector<float> values(const Tensor& x) {
    return {x.floats().begin(), x.floats().end()};
  }
  HostDevice device;
};

TEST_F(HostDeviceTest, MemoryIsAlignedAndNeverNull) {
  for (std::size_t n : kLengths) {
    const Tensor x = device.empty(n, DType::u8, 5 * n);
    EXPECT_FALSE(x.is_phantom());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.data()) % MemoryPool::kAlignment, 0u);
    EXPECT_EQ(x.numel(), n);
    EXPECT_EQ(x.priced_numel(), 5 * n);
  }
}

TEST_F(HostDeviceTest, MemoryIsReusedAfterItsLastTensor) {
  Tensor x = device.empty(1000);
  const Tensor view = x.slice(10, 5);
  const std::byte* address = x.data();
  x = Tensor();
  EXPECT_NE(device.empty(1000).data(), address) << "a view still holds it";
  const_cast<Tensor&>(view) = Tensor();
  const Tensor first = device.empty(1000), second = device.empty(1000);
  EXPECT_TRUE(first.data() == address || second.data() == address);
}

TEST_F(HostDeviceTest, TensorsOutliveTheirDevice) {
  Tensor x;
  {
    HostDevice other;
    x = other.empty(100);
    other.fill(x, 3);
  }
  EXPECT_EQ(x.floats()[99], 3);
}

TEST_F(HostDeviceTest, ThreadsShareOneDevice) {
  std::vector<std::thread> threads;
  std::vector<int> errors(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        const Tensor x = device.empty(static_cast<std::size_t>(1 + i % 7) * 100);
        device.fill(x, static_cast<float>(t));
        for (float v : x.floats())
          errors[static_cast<std::size_t>(t)] += v != static_cast<float>(t);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(errors, std::vector<int>(4));
}

TEST_F(HostDeviceTest, AxpbyRoundsEveryOperation) {
  for (std::size_t n : kLengths) {
    const Tensor x = normals(n, 1), y = normals(n, 2);
    for (auto [a, b] : {std::pair{0.3f, 0.7f}, {1.f, 1.f}, {2.f, 0.f}, {0.f, 1.f}}) {
      std::vector<float> expected = values(y);
      for (std::size_t i = 0; i < n; ++i) {
        const float ax = a * x.floats()[i];  // an extra variable keeps the two roundings apart
        const float by = b * expected[i];
        expected[i] = ax + by;
      }
      device.axpby(a, x, b, y);
      ASSERT_EQ(values(y), expected) << n;
    }
  }
}

TEST_F(HostDeviceTest, AxpbyWithoutBDoesNotReadY) {
  const Tensor x = normals(40), y = device.empty(40);
  device.fill(y, NAN);
  device.axpby(1, x, 0, y);
  EXPECT_EQ(values(y), values(x));
}

TEST_F(HostDeviceTest, OperandsMayBeTheSameTensor) {
  const Tensor x = normals(40);
  std::vector<float> expected = values(x);
  for (float& v : expected) v = 2 * v + 3 * v;
  device.axpby(2, x, 3, x);
  device.copy(x, x);
  device.maximum(x, x);
  EXPECT_EQ(values(x), expected);
}

TEST_F(HostDeviceTest, NormAddsInTheDocumentedOrder) {
  for (std::size_t n : kLengths) {
    const Tensor x = normals(n);
    // These lengths have one range (norm_order.h). Sum i adds every 1024th element from i on; a
    // thread combines four sums, and 32 threads combine their sums as a tree.
    std::vector<double> sums(1024), threads(256);
    for (std::size_t i = 0; i < n; ++i) {
      sums[i % 1024] += static_cast<double>(x.floats()[i]) * x.floats()[i];
    }
    for (std::size_t t = 0; t < 256; ++t) {
      threads[t] = (sums[4 * t] + sums[4 * t + 2]) + (sums[4 * t + 1] + sums[4 * t + 3]);
    }
    const std::function<double(std::size_t, std::size_t)> tree = [&](std::size_t t,
                                                                     std::size_t by) {
      return by == 32 ? threads[t] : tree(t, 2 * by) + tree(t + by, 2 * by);
    };
    double sum = 0;
    for (std::size_t warp = 0; warp < 256; warp += 32) sum += tree(warp, 1);
    EXPECT_EQ(device.norm2(x), std::sqrt(sum)) << n;
  }
}

TEST_F(HostDeviceTest, CopyConvertsThereAndBack) {
  for (DType type : {DType::f32, DType::bf16, DType::f16, DType::u8}) {
    const Tensor x = device.empty(300), small = device.empty(300, type), y = device.empty(300);
    for (std::size_t i = 0; i < 300; ++i) x.floats()[i] = static_cast<float>(i % 256);
    device.copy(small, x);
    device.copy(y, small);
    EXPECT_EQ(values(y), values(x)) << static_cast<int>(type);
    device.fill(small, 3);
    device.copy(y, small);
    EXPECT_EQ(values(y), std::vector<float>(300, 3));
  }
}

TEST_F(HostDeviceTest, SgdFollowsItsDefinition) {
  const MomentumStep step{.lr = 0.1f, .momentum = 0.9f, .weight_decay = 0.01f};
  const Tensor w = normals(1000, 1), g = normals(1000, 2), m = normals(1000, 3);
  const auto w0 = values(w), g0 = values(g), m0 = values(m);
  device.update(step, w, g, {m});
  for (std::size_t i = 0; i < 1000; ++i) {
    const double momentum = 0.9 * m0[i] + (g0[i] + 0.01 * w0[i]);
    ASSERT_NEAR(m.floats()[i], momentum, 2e-6);
    ASSERT_NEAR(w.floats()[i], w0[i] - 0.1 * momentum, 2e-6);
  }
  EXPECT_EQ(values(g), g0);
}

TEST_F(HostDeviceTest, SgdWithoutMomentumNeedsNoState) {
  const Tensor w = normals(100, 1), g = normals(100, 2);
  const auto w0 = values(w);
  device.update(SgdStep{.lr = 0.5f}, w, g);
  for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(w.floats()[i], w0[i] - 0.5f * g.floats()[i]);
}

TEST_F(HostDeviceTest, AdamFollowsItsDefinition) {
  const AdamStep step{.lr = 0.1f,
                      .correction1 = 0.1f,
                      .correction2 = 0.001f,
                      .weight_decay = 0.02f,
                      .decoupled_weight_decay = 0.03f};
  const Tensor w = normals(1000, 1), g = normals(1000, 2), m = normals(1000, 3);
  const Tensor v = normals(1000, 4);
  for (float& x : v.floats()) x *= x;
  const auto w0 = values(w), m0 = values(m), v0 = values(v);
  device.update(step, w, g, {m, v});
  for (std::size_t i = 0; i < 1000; ++i) {
    const double gradient = g.floats()[i] + 0.02 * w0[i];
    const double mean = 0.9 * m0[i] + 0.1 * gradient;
    const double square = 0.999 * v0[i] + 0.001 * gradient * gradient;
    const double update = mean / 0.1 / (std::sqrt(square / 0.001) + 1e-8);
    ASSERT_NEAR(m.floats()[i], mean, 1e-6);
    ASSERT_NEAR(v.floats()[i], square, 3e-6);
    ASSERT_NEAR(w.floats()[i], w0[i] * (1 - 0.1 * 0.03) - 0.1 * update, 1e-4);
  }
}

TEST_F(HostDeviceTest, RefusesPhantomsUnequalLengthsAndForeignTypes) {
  const Tensor x = device.empty(4), phantom = NullDevice().empty(4);
  EXPECT_THROW(device.fill(phantom, 0), InvariantError);
  EXPECT_THROW(device.copy(x, phantom), InvariantError);
  EXPECT_THROW(device.copy(phantom, x), InvariantError);
  EXPECT_THROW(device.axpby(1, x, 1, phantom), InvariantError);
  EXPECT_THROW(device.norm2(phantom), InvariantError);
  EXPECT_THROW(device.update(MomentumStep{}, x, x, {phantom}), InvariantError);
  EXPECT_THROW(device.update(MomentumStep{}, x, x), InvariantError);
  EXPECT_THROW(device.maximum(x, device.empty(5)), InvariantError);
  EXPECT_THROW(device.axpby(1, x, 1, device.empty(4, DType::f16)), InvariantError);
}

TEST(NullDevice, CreatesPhantomsAndComputesNothing) {
  NullDevice device;
  const Tensor x = device.empty(10, DType::f16, 20);
  EXPECT_TRUE(x.is_phantom());
  EXPECT_EQ(x.priced_nbytes(), 40u);
  device.axpby(1, x, 1, x);
  device.nn().gemm({1, 1, 1}, x, x, 0, x);
  EXPECT_TRUE(std::isnan(device.norm2(x)));
}

}  // namespace
}  // namespace trigram::test::host_device_test
