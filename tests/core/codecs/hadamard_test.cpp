// The Hadamard transform of codecs whose blocks share a scale, against its matrix.
#include "core/codecs/hadamard.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "tests/support/codec_testing.h"

namespace trigram::test::hadamard_test {
namespace {

TEST(Hadamard, MultipliesGroupsByTheMatrix) {
  constexpr std::size_t kCount = 100;
  const Values x = normals(kCount, 1.f);
  for (std::size_t group = 1; group <= hadamard::kMost; group *= 2) {
    Values transformed = x;
    hadamard::transform(transformed.data(), kCount, group);
    const std::size_t whole = kCount / group * group;
    for (std::size_t i = 0; i < kCount; ++i) {
      double expected = 0;
      for (std::size_t j = 0; j < group && i < whole; ++j)
        expected += x[i / group * group + j] *
                    (std::popcount(i % group & j) % 2 == 0 ? 1.0 : -1.0) /
                    std::sqrt(static_cast<double>(group));
      EXPECT_NEAR(transformed[i], i < whole ? expected : x[i], 1e-5) << group << " at " << i;
    }
    hadamard::transform(transformed.data(), kCount, group);
    for (std::size_t i = 0; i < kCount; ++i) EXPECT_NEAR(transformed[i], x[i], 1e-5) << group;
  }
}

TEST(Hadamard, SpreadsOutliers) {
  Values x = normals(4096, 1.f);
  for (std::size_t i = 0; i < x.size(); i += 500) x[i] = 50;
  const Coded plain = code({"int4"}, x), spread = code({"int4", {{"hadamard", 32}}}, x);
  EXPECT_EQ(plain.wire.size(), spread.wire.size());
  EXPECT_LT(distance_squared(x, spread.decoded), distance_squared(x, plain.decoded) / 2);
  // Without outliers there is nothing to gain, and little to lose.
  const Values even = normals(4096, 1.f);
  const double before = distance_squared(even, code({"int4"}, even).decoded);
  const double after = distance_squared(even, code({"int4", {{"hadamard", 32}}}, even).decoded);
  EXPECT_NEAR(after / before, 1, 0.2);
}

TEST(Hadamard, EncodesTheTransformedVector) {
  const Values x = normals(1003, 1.f);
  for (const char* name : {"e3m0", "int4", "int2", "fp8_e4m3", "fp8_e5m2"}) {
    Values transformed = x;
    hadamard::transform(transformed.data(), x.size(), 8);
    const Coded expected = code({name, {{"block", 64}}}, transformed);
    const Coded got = code({name, {{"block", 64}, {"hadamard", 8}}}, x);
    EXPECT_EQ(got.wire, expected.wire) << name;
    Values back = expected.decoded;
    hadamard::transform(back.data(), back.size(), 8);
    EXPECT_EQ(got.decoded, back) << name;
  }
}

TEST(Hadamard, HasAPowerOfTwoThatDividesTheBlock) {
  for (const auto& [block, group] : {std::pair{512, 3}, {48, 32}, {512, 64}, {512, 0}})
    EXPECT_EQ(codec_error({{"name", "int4"}, {"block", block}, {"hadamard", group}}).substr(0, 15),
              "/codec/hadamard")
        << block << " " << group;
}

}  // namespace
}  // namespace trigram::test::hadamard_test
