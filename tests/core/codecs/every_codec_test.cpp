// Properties of every codec, whatever it loses.

#include <gmock/gmock.h>

#include <cctype>
#include <cmath>
#include <limits>

#include "algorithms/primitives/error_feedback.h"
#include "core/check.h"
#include "core/device/null_device.h"
#include "tests/oracles/codec_sizes.h"
#include "tests/support/codec_testing.h"
#include "tests/support/vector_targets.h"

namespace trigram::test::every_codec_test {
namespace {

struct Case {
  CodecSpec spec;
  bool element_by_element = false;  // a NaN affects only its own element
  bool stochastic = false;
};

std::vector<Case> cases() {
  return {
      {{"minmax_uint8"}},
      {{"fp16"}, true},
      {{"bf16"}, true},
      {{"e3m0"}},
      {{"int4"}},
      {{"int4", {{"block", 1000}}}},
      {{"int4", {{"hadamard", 32}}}},
      {{"e3m0", {{"block", 1000}, {"hadamard", 8}}}},
      {{"int2"}},
      {{"int2", {{"block", 1000}}}},
      {{"fp8_e4m3"}},
      {{"fp8_e4m3", {{"block", 999}}}},
      {{"fp8_e5m2"}},
      {{"sign"}},
      {{"sign", {{"scale", "l1_mean"}}}},
      {{"sign", {{"scale", "one"}}}},
      {{"sign", {{"scale", "means"}}}},
      {{"qsgd"}, false, true},
      {{"qsgd", {{"levels", 7}, {"bucket", 2048}}}, false, true},
      {{"qsgd", {{"levels", 7}, {"bucket", 2048}, {"coding", "elias"}}}, false, true},
      {{"qsgd", {{"levels", 20}, {"bucket", 100001}, {"norm", "max"}}}, false, true},
      {{"topk"}},
      {{"topk", {{"density", 0.2}}}},
      {{"chunk_topk"}},
      {{"chunk_topk", {{"keep", 500}}}},
      {{"dct_topk"}},
      {{"dct_topk", {{"keep", 501}, {"mean", "senders"}}}},
      {{"randk", {{"unbiased", false}}}, false, true},
      {{"randk", {{"density", 0.5}}}, false, true},
      {{"powersgd"}, false, true},
      {{"powersgd", {{"rank", 4}}}, false, true},
  };
}

class EveryCodec : public ::testing::TestWithParam<Case> {
 protected:
  const CodecSpec& spec() const { return GetParam().spec; }
};

TEST(Codecs, EveryCodecIsTested) {
  for (const CodecEntry& entry : codecs()) {
    const auto all = cases();
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Case& c) {
      return c.spec.name == entry.name;
    })) << entry.name;
  }
}

TEST_P(EveryCodec, WireSizesFollowFromTheLengthAndArePriced) {
  const Json options =
      find_component(codecs(), "codec", Json(spec().name), "").resolve(spec().options, "");
  HostDevice host;
  NullDevice null;
  for (Device* device : {static_cast<Device*>(&host), static_cast<Device*>(&null)}) {
    auto codec = device->codec(spec());
    for (std::size_t n : {0, 1, 2, 3, 5, 31, 32, 33, 511, 512, 513, 1000, 1000003, 335141888}) {
      EXPECT_EQ(codec->wire_bytes(n), codec_wire_bytes(spec().name, options, n)) << n;
      EXPECT_EQ(codec->priced_bytes(n), codec_priced_bytes(spec().name, options, n)) << n;
    }
    const Tensor wire = codec->empty_wire(*device, device->empty(5, DType::f32, 100000));
    EXPECT_EQ(wire.numel(), codec->wire_bytes(5));
    EXPECT_EQ(wire.priced_numel(), codec->priced_bytes(100000));
  }
}

TEST_P(EveryCodec, GivesTheSameBitsOnEveryVectorTarget) {
  for (std::size_t n : {0, 1, 2, 3, 31, 32, 33, 64, 127, 777, 4099, 70001, 1000003}) {
    const Values x = normals(n, 0.02f, 0.001f);
    const Coded best = code(spec(), x);
    for_each_vector_target([&](const char* target) {
      const Coded other = code(spec(), x);
      ASSERT_TRUE(same_bytes(other.wire, best.wire)) << n << " on " << target;
      ASSERT_TRUE(same_bits(other.decoded, best.decoded)) << n << " on " << target;
    });
  }
}

TEST_P(EveryCodec, DependsOnItsKeyOnlyIfItIsStochastic) {
  const Values x = normals(500);
  const CodecKey key{1, 2, 3};
  EXPECT_TRUE(same_bytes(code(spec(), x, key).wire, code(spec(), x, key).wire));
  for (const CodecKey other : {CodecKey{2, 2, 3}, CodecKey{1, 3, 3}, CodecKey{1, 2, 4}}) {
    EXPECT_EQ(code(spec(), x, other).wire != code(spec(), x, key).wire, GetParam().stochastic);
  }
  // The second vector is encoded with other random numbers, but they are the same in every run.
  Bytes wires[2][2];
  for (auto& run : wires) {
    HostDevice device;
    auto codec = device.codec(spec(), key);
    const Tensor in = to_tensor(device, x);
    for (Bytes& bytes : run) {
      const Tensor wire = codec->empty_wire(device, in);
      codec->encode(wire, in);
      const auto values = wire.values<std::uint8_t>();
      bytes.assign(values.begin(), values.end());
    }
  }
  EXPECT_EQ(wires[0][0] != wires[0][1], GetParam().stochastic);
  EXPECT_EQ(wires[0][1], wires[1][1]);
}

TEST_P(EveryCodec, DivergenceStaysVisible) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for_each_vector_target([&](const char* target) {
    for (const float bad : {std::nanf(""), -std::nanf(""), kInfinity, -kInfinity}) {
      for (const std::size_t n : {1, 33, 100, 500}) {
        for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
          Values x = normals(n);
          x[at] = bad;
          const Values decoded = code(spec(), x).decoded;
          if (GetParam().element_by_element) {
            ASSERT_EQ(std::isnan(decoded[at]), std::isnan(bad)) << target;
            ASSERT_FALSE(std::isfinite(decoded[at])) << target;
          } else {
            for (const float v : decoded) ASSERT_TRUE(std::isnan(v)) << n << " on " << target;
          }
        }
      }
    }
  });
}

TEST_P(EveryCodec, ZerosStayZeros) {
  for (const std::size_t n : {1, 33, 1000}) {
    for (const float v : code(spec(), Values(n, 0.f)).decoded) ASSERT_EQ(v, 0) << n;
  }
}

// The sum of the decoded vectors plus the residual is the sum of the inputs: error feedback delays
// values but loses none.
TEST_P(EveryCodec, WithErrorFeedbackLosesNothing) {
  constexpr int kSteps = 12;
  for (const std::size_t n : {0, 1, 3, 31, 32, 33, 1000, 4099}) {
    HostDevice device;
    auto codec = device.codec(spec(), {1, 0, 0});
    const Tensor residual = device.empty(n), decoded = device.empty(n);
    device.fill(residual, 0);
    std::vector<double> sent(n), to_send(n), magnitude(n);
    for (int step = 0; step < kSteps; ++step) {
      Values x = normals(n + static_cast<std::size_t>(step) * 8192);
      x.resize(n);
      ErrorFeedback feedback(device, *codec, residual);
      const Tensor in = to_tensor(device, x), wire = feedback.empty_wire(device, in);
      feedback.encode(wire, in);
      feedback.decode(decoded, wire);
      for (std::size_t i = 0; i < n; ++i) {
        sent[i] += decoded.floats()[i];
        to_send[i] += x[i];
        magnitude[i] = std::max({magnitude[i], std::abs(double{decoded.floats()[i]}),
                                 std::abs(double{residual.floats()[i]})});
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      // Two f32 roundings per step, of numbers as large as the largest.
      const double rounding = 2 * kSteps * 0x1p-24 * (2 * magnitude[i]);
      ASSERT_NEAR(sent[i] + double{residual.floats()[i]}, to_send[i], rounding) << n << ", " << i;
    }
  }
}

TEST_P(EveryCodec, RefusesWiresOfAnotherLengthAndPhantoms) {
  HostDevice device;
  auto codec = device.codec(spec());
  const Tensor x = device.empty(500);
  device.fill(x, 1);
  const std::size_t size = codec->wire_bytes(500);
  for (const std::size_t wrong : {size - 1, size + 1}) {
    EXPECT_THROW(codec->encode(device.empty(wrong, DType::u8), x), InvariantError);
    EXPECT_THROW(codec->decode(x, device.empty(wrong, DType::u8)), InvariantError);
  }
  EXPECT_THROW(codec->encode(device.empty(size, DType::u8), Tensor::phantom(500, DType::f32, 500)),
               InvariantError);
}

TEST_P(EveryCodec, HasADescriptionAndRefusesUnknownOptions) {
  EXPECT_FALSE(find_component(codecs(), "codec", Json(spec().name), "").doc.empty());
  EXPECT_THAT(codec_error({{"name", spec().name}, {"colour", 3}}),
              ::testing::StartsWith("/codec/colour: "));
}

std::string case_name(const ::testing::TestParamInfo<Case>& tested) {
  std::string name = tested.param.spec.name;
  for (const auto& [key, value] : tested.param.spec.options.items()) {
    name += "_" + key + "_" + value.dump();
  }
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Codecs, EveryCodec, ::testing::ValuesIn(cases()), case_name);

}  // namespace
}  // namespace trigram::test::every_codec_test
