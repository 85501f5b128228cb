#include "core/device/timed_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "core/random/philox.h"
#include "tests/support/lone_rank.h"

namespace trigram::test::timed_device_test {
namespace {

// Cost has no comparison operator; a pair can be printed and compared.
using Price = std::pair<double, double>;  // bytes, flops

constexpr double kReal = 100, kPriced = 1000;

// A device that computes and a device that does not, wrapped in the same way. Their charges must be
// equal.
class TimedDeviceTest : public testing::TestWithParam<const char*> {
 protected:
  Tensor f32(std::size_t real = kReal, std::size_t priced = kPriced) {
    const Tensor x = device.empty(real, DType::f32, priced);
    inner.fill(x, 1);
    return x;
  }
  std::vector<Price> charged() {
    std::vector<Price> prices;
    for (const Cost& cost : stream.charged) prices.push_back({cost.bytes, cost.flops});
    stream.charged.clear();
    return prices;
  }
  HostDevice host;
  NullDevice null;
  Device& inner = GetParam() == std::string("host") ? static_cast<Device&>(host) : null;
  RecordingStream stream;
  TimedDevice device{inner, stream};
};
INSTANTIATE_TEST_SUITE_P(Devices, TimedDeviceTest, testing::Values("host", "null"),
                         [](const auto& test) { return test.param; });

TEST_P(TimedDeviceTest, OperationsAreChargedByTheirPricedTraffic) {
  const Tensor x = f32(), y = f32(), m = f32(), v = f32();
  const Tensor half = device.empty(kReal, DType::f16, kPriced);
  device.fill(x, 1);
  device.fill_normal(x, Philox(1, 0, 0, Purpose::codec));
  device.copy(y, x);
  device.copy(half, x);
  device.axpby(1, x, 0, y);
  device.axpby(1, x, 1, y);
  device.maximum(x, y);
  device.cut_below(1, x);
  device.update(SgdStep{.lr = 0.1f}, x, y);
  device.update(MomentumStep{.lr = 0.1f, .momentum = 0.9f}, x, y, {m});
  device.update(AdamStep{.lr = 0.1f}, x, y, {m, v});
  device.norm2(x);
  constexpr double kBytes = 4 * kPriced;
  EXPECT_THAT(charged(),
              testing::ElementsAre(Price{1 * kBytes, 0}, Price{kBytes, 100 * kPriced},
                                   Price{2 * kBytes, 0}, Price{1.5 * kBytes, 0},
                                   Price{2 * kBytes, kPriced}, Price{3 * kBytes, 3 * kPriced},
                                   Price{3 * kBytes, kPriced}, Price{2 * kBytes, kPriced},
                                   Price{3 * kBytes, 4 * kPriced}, Price{5 * kBytes, 6 * kPriced},
                                   Price{7 * kBytes, 18 * kPriced}, Price{kBytes, 2 * kPriced}));
}

TEST_P(TimedDeviceTest, CodecsAreChargedForBothTensors) {
  auto codec = device.codec({});
  const Tensor x = f32(), wire = codec->empty_wire(device, x);
  codec->encode(wire, x);
  codec->decode(x, wire);
  // A code has 1000 elements padded to 1024, and a header of 32 bytes.
  EXPECT_THAT(charged(), testing::ElementsAre(Price{4000 + 1056, 0}, Price{4000 + 1056, 0}));
}

/// As in BAGUA's code: encoding takes two reductions for each chunk and one kernel for all chunks.
/// Decoding takes one kernel for any number of chunks, and one for their mean.
TEST_P(TimedDeviceTest, MinMaxUInt8IsChargedForTheLaunchesOfBaguasKernels) {
  auto codec = device.codec({});
  const auto launches = [&] {
    std::vector<int> counts;
    for (const Cost& cost : stream.charged) counts.push_back(cost.launches);
    stream.charged.clear();
    return counts;
  };
  std::vector<Tensor> chunks, wires;
  for (int i = 0; i < 16; ++i) {
    chunks.push_back(f32());
    wires.push_back(codec->empty_wire(device, chunks.back()));
  }
  codec->encode(wires[0], chunks[0]);
  codec->encode_each(wires, chunks);
  codec->decode_each(chunks, wires);
  EXPECT_THAT(launches(), testing::ElementsAre(2 + 1, 2 * 16 + 1, 1));
  codec->encode_mean(device, wires[0], wires, chunks[0], nullptr);
  constexpr double kBytes = 4 * kPriced, kCode = 1056;
  EXPECT_THAT(charged(),
              testing::ElementsAre(Price{16 * (kBytes + kCode), 0},
                                   Price{17 * kBytes, 16 * kPriced}, Price{kBytes + kCode, 0}));
  // An empty chunk causes no launch.
  chunks[3] = f32(kReal, 0);
  codec->encode_each(wires, chunks);
  EXPECT_THAT(launches(), testing::ElementsAre(2 * 15 + 1));
  // Other codecs take one launch for each vector.
  auto half = device.codec({"fp16"});
  for (std::size_t i = 0; i < 16; ++i) wires[i] = half->empty_wire(device, chunks[i]);
  half->encode_each({wires.data(), 2}, {chunks.data(), 2});
  half->decode_mean(device, chunks[0], {wires.data(), 2});
  EXPECT_THAT(launches(), testing::ElementsAre(2, 2, 2));
}

/// Unless one kernel makes the mean, it costs as much as its decodings, sums and product do.
TEST_P(TimedDeviceTest, AMeanOfCodesIsChargedForAllOfItsPasses) {
  using Total = std::map<Cost::Kind, std::tuple<double, double, int>>;
  const auto total = [&] {
    Total sum;
    for (const Cost& cost : stream.charged) {
      auto& [bytes, flops, launches] = sum[cost.kind];
      bytes += cost.bytes, flops += cost.flops, launches += cost.launches;
    }
    stream.charged.clear();
    return sum;
  };
  for (const char* name : {"fp16", "e3m0", "topk"}) {
    auto codec = device.codec({name});
    const Tensor x = f32(), decoded = f32();
    for (const std::size_t count : {1, 2, 5}) {
      std::vector<Tensor> wires;
      for (std::size_t i = 0; i < count; ++i) wires.push_back(codec->empty_wire(device, x));
      for (const Tensor& wire : wires) codec->encode(wire, x);
      stream.charged.clear();
      codec->decode_mean(device, x, wires);
      const Total mean = total();
      for (const Tensor& wire : wires) codec->decode(decoded, wire);
      for (std::size_t i = 1; i < count; ++i) device.axpby(1, decoded, 1, x);
      device.axpby(1 / static_cast<float>(count), x, 0, x);
      EXPECT_EQ(mean, total()) << name << ", " << count << " codes";
    }
  }
}

TEST_P(TimedDeviceTest, OperationsWithoutPricedElementsCostNothing) {
  auto codec = device.codec({});
  const Tensor x = f32(kReal, 0), wire = codec->empty_wire(device, x);
  device.fill(x, 0);
  device.copy(x, x);
  device.axpby(1, x, 1, x);
  device.maximum(x, x);
  device.cut_below(1, x);
  device.update(MomentumStep{.momentum = 0.9f}, x, x, {x});
  device.update(AdamStep{}, x, x, {x, x});
  device.norm2(x);
  codec->encode(wire, x);
  codec->decode(x, wire);
  device.nn().relu(x);
  device.nn().gemm({10, 10, 10}, x, x, 0, x);
  EXPECT_TRUE(stream.charged.empty());
}

TEST_P(TimedDeviceTest, PricedElementsAreChargedWithoutRealElements) {
  device.fill(f32(0, 50), 0);
  EXPECT_THAT(charged(), testing::ElementsAre(Price{200, 0}));
}

TEST_P(TimedDeviceTest, AllocationIsFree) {
  f32();
  EXPECT_TRUE(stream.charged.empty());
}

TEST_P(TimedDeviceTest, NnOperationsAreChargedByTheirDimensions) {
  const auto plain = [&](std::size_t n) { return f32(n, n); };
  NnOps& nn = device.nn();
  nn.gemm({2, 3, 4}, plain(8), plain(12), 0, plain(6));
  nn.gemm({2, 3, 4}, plain(8), plain(12), 1, plain(6));
  nn.bias(2, 3, plain(6), plain(3));
  nn.bias_grad(2, 3, plain(6), plain(3));
  nn.relu(plain(6));
  nn.relu_grad(plain(6), plain(6));
  nn.orthonormalise(2, 3, plain(6), Dependent::is_replaced);
  nn.normalise(2, 3, f32(6, 60));
  EXPECT_THAT(charged(),
              testing::ElementsAre(Price{4 * (8 + 12 + 6), 48}, Price{4 * (8 + 12 + 12), 48},
                                   Price{4 * (12 + 3), 6}, Price{4 * (6 + 3), 6}, Price{4 * 12, 6},
                                   Price{4 * 18, 6}, Price{4 * 12, 48}, Price{4 * 120, 180}));
  // Every side is priced as one and a half times its real length.
  nn.gemm({2, 4, 6}, f32(12, 27), f32(24, 54), 0, f32(8, 18));
  EXPECT_THAT(charged(), testing::ElementsAre(Price{4 * (27 + 54 + 18), 2 * 3 * 6 * 9}));
  // 2 images of 1 channel and 4 x 4 pixels, with a 2 x 2 window and stride 2, give 2 x 2 positions.
  const Window window{.batch = 2, .channels = 1, .height = 4, .width = 4, .kernel = 2, .stride = 2};
  nn.im2col(window, plain(32), plain(32));
  nn.col2im(window, plain(32), plain(32));
  nn.max_pool(window, plain(32), plain(8), plain(8));
  const Tensor argmax = plain(8);
  nn.max_pool_grad(window, plain(8), argmax, plain(32));
  EXPECT_THAT(charged(), testing::ElementsAre(Price{4 * 64, 0}, Price{4 * 64, 32},
                                              Price{4 * (32 + 16), 32}, Price{4 * (32 + 16), 8}));
  const Tensor labels = device.empty(2, DType::u8);
  inner.fill(labels, 1);
  nn.softmax_xent(2, 3, plain(6), labels, plain(6), plain(1));
  EXPECT_THAT(charged(), testing::ElementsAre(Price{4 * (12 + 2), 120}));
}

}  // namespace
}  // namespace trigram::test::timed_device_test
