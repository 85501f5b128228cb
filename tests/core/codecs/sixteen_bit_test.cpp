#include <cmath>
#include <limits>

#include "core/element_types.h"
#include "tests/support/codec_testing.h"
#include "tests/support/vector_targets.h"

namespace trigram::test::sixteen_bit_test {
namespace {

float as_float(std::uint32_t bits) {
  float x = 0;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

/// Bit patterns from all of f32: every upper half with patterns of the discarded bits near ties,
/// including infinities and NaNs.
Values patterns() {
  Values x;
  for (std::uint32_t high = 0; high < 0x10000; ++high) {
    for (const std::uint32_t low : {0x0000u, 0x0001u, 0x0FFFu, 0x1000u, 0x1001u, 0x2FFFu, 0x3000u,
                                    0x7FFFu, 0x8000u, 0x8001u, 0xEFFFu, 0xF000u, 0xFFFFu}) {
      x.push_back(as_float(high << 16 | low));
    }
  }
  return x;
}

template <class Convert>
void expect_encodes_as(const std::string& name, const Convert& convert) {
  const Values x = patterns();
  for_each_vector_target([&](const char* target) {
    const Bytes wire = code({name}, x).wire;
    for (std::size_t i = 0; i < x.size(); ++i) {
      std::uint16_t got = 0;
      std::memcpy(&got, &wire[2 * i], 2);
      ASSERT_EQ(got, convert(x[i])) << x[i] << " at " << i << " on " << target;
    }
  });
}

template <class Convert>
void expect_decodes_as(const std::string& name, const Convert& convert) {
  for_each_vector_target([&](const char* target) {
    HostDevice device;
    const Tensor wire = device.empty(2 * 65536, DType::u8), x = device.empty(65536);
    for (unsigned i = 0; i < 65536; ++i) {
      const auto code = static_cast<std::uint16_t>(i);
      std::memcpy(wire.data() + std::size_t{2} * i, &code, 2);
    }
    device.codec({name})->decode(x, wire);
    Values expected;
    for (unsigned i = 0; i < 65536; ++i) expected.push_back(convert(static_cast<std::uint16_t>(i)));
    ASSERT_TRUE(same_bits(to_values(x), expected)) << target;
  });
}

TEST(SixteenBit, EncodesAsTheScalarConversionsOnEveryVectorTarget) {
  expect_encodes_as("fp16", f16_from_f32);
  expect_encodes_as("bf16", bf16_from_f32);
}

TEST(SixteenBit, DecodesEveryCodeAsTheScalarConversionsOnEveryVectorTarget) {
  expect_decodes_as("fp16", f32_from_f16);
  expect_decodes_as("bf16", f32_from_bf16);
}

TEST(SixteenBit, ErrorIsWithinHalfAUnitInTheLastPlace) {
  const Values x = normals(1000);
  const Values half = code({"fp16"}, x).decoded, brain = code({"bf16"}, x).decoded;
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_LE(std::abs(half[i] - x[i]), std::abs(x[i]) * 0x1p-11f + 0x1p-25f);
    EXPECT_LE(std::abs(brain[i] - x[i]), std::abs(x[i]) * 0x1p-8f);
  }
}

TEST(SixteenBit, NaNStaysNaNAndLargeValuesBecomeInfinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const char* name : {"fp16", "bf16"}) {
    const Values x = code({name}, {std::nanf(""), infinity, -3.4e38f, 1}).decoded;
    EXPECT_TRUE(std::isnan(x[0]));
    EXPECT_EQ(x[1], infinity);
    EXPECT_EQ(x[2], -infinity);
    EXPECT_EQ(x[3], 1);
  }
  EXPECT_EQ(code({"fp16"}, {65504, 65519, 65520}).decoded, (Values{65504, 65504, infinity}));
}

}  // namespace
}  // namespace trigram::test::sixteen_bit_test
