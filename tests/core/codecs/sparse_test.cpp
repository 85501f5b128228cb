#include <gmock/gmock.h>

#include <cmath>

#include "core/codecs/options.h"
#include "tests/oracles/codec_references.h"
#include "tests/support/codec_testing.h"
#include "tests/support/vector_targets.h"

namespace trigram::test::sparse_test {
namespace {

CodecSpec topk(double density) { return {"topk", {{"density", density}}}; }
CodecSpec randk(double density, bool unbiased) {
  return {"randk", {{"density", density}, {"unbiased", unbiased}}};
}

std::vector<std::uint32_t> indices_on(const Bytes& wire) {
  std::vector<std::uint32_t> indices(wire.size() / 8);
  if (!indices.empty()) std::memcpy(indices.data(), wire.data(), 4 * indices.size());
  return indices;
}

Values sparse(const Values& x, const std::vector<std::uint32_t>& indices) {
  Values result(x.size(), 0.f);
  for (const std::uint32_t i : indices) result[i] = x[i];
  return result;
}

/// Vectors whose largest elements are difficult to select, with names.
std::vector<std::pair<std::string, Values>> vectors() {
  std::vector<std::pair<std::string, Values>> all;
  for (const std::size_t n : {0, 1, 2, 3, 31, 32, 33, 100, 4095, 4097, 100003}) {
    all.push_back({"normal " + std::to_string(n), normals(n)});
  }
  all.push_back({"constant", Values(20000, -2.f)});
  all.push_back({"zeros", Values(20000, 0.f)});
  Values few(20000, 0.f), signs(20000, 1.f), ramp, periodic = normals(65536);
  few[19999] = 1e-40f;
  few[7] = -1;
  for (std::size_t i = 0; i < signs.size(); i += 3) signs[i] = -1;
  for (int i = 0; i < 20000; ++i) ramp.push_back(static_cast<float>(i));
  for (std::size_t i = 0; i < periodic.size(); i += 256)
    periodic[i] = 100;  // makes the sample misleading
  all.insert(all.end(), {{"few", few}, {"signs", signs}, {"ramp", ramp}, {"periodic", periodic}});
  std::reverse(ramp.begin(), ramp.end());
  all.push_back({"falling ramp", ramp});
  Values outliers = normals(100000, 1e-20f);
  for (std::size_t i = 0; i < 50000; ++i) outliers[i] *= 1e30f;
  all.push_back({"one half large", outliers});
  return all;
}

TEST(Density, RoundsUpAndKeepsAtLeastOne) {
  EXPECT_EQ(kept_count(0.01, 0), 0u);
  EXPECT_EQ(kept_count(0.01, 1), 1u);
  EXPECT_EQ(kept_count(0.01, 100), 1u);
  EXPECT_EQ(kept_count(0.01, 101), 2u);
  EXPECT_EQ(kept_count(0.07, 100), 7u);  // the product in f64 is above 7
  EXPECT_EQ(kept_count(1, 1000003), 1000003u);
  EXPECT_EQ(kept_count(1e-9, 1000003), 1u);
}

TEST(TopK, EqualsASortOnEveryVectorTarget) {
  for_each_vector_target([&](const char* target) {
    for (const auto& [name, x] : vectors()) {
      for (const double density : {0.001, 0.01, 0.3, 1.0}) {
        const Coded coded = code(topk(density), x);
        const auto expected = topk_indices(x, kept_count(density, x.size()));
        ASSERT_EQ(indices_on(coded.wire), expected) << name << ", " << density << ", " << target;
        ASSERT_TRUE(same_bits(coded.decoded, sparse(x, expected))) << name << ", " << target;
      }
    }
  });
}

TEST(TopK, IsAContraction) {
  for (const auto& [name, x] : vectors()) {
    if (x.empty()) continue;
    for (const double density : {0.001, 0.01, 0.3, 1.0}) {
      const double n = static_cast<double>(x.size());
      const double k = static_cast<double>(kept_count(density, x.size()));
      EXPECT_LE(distance_squared(x, code(topk(density), x).decoded),
                (1 - k / n) * norm2_squared(x) * (1 + 1e-12))
          << name << ", " << density;
    }
  }
}

TEST(TopK, RefusesIndicesBeyondTheVector) {
  HostDevice device;
  auto codec = device.codec(topk(0.01));
  const Tensor x = device.empty(100), wire = codec->empty_wire(device, x);
  const std::uint32_t index = 100;
  std::memcpy(wire.data(), &index, 4);
  EXPECT_ANY_THROW(codec->decode(x, wire));
}

TEST(RandK, SendsTheValuesOfDistinctElements) {
  for (const std::size_t n : {1, 3, 31, 32, 33, 64, 65, 1000, 100003}) {
    for (const double density : {0.001, 0.01, 0.5, 1.0}) {
      const Values x = normals(n, 1, 10);  // no element is zero
      const Values plain = code(randk(density, false), x).decoded;
      const std::size_t k = kept_count(density, n);
      std::size_t chosen = 0;
      for (std::size_t i = 0; i < n; ++i) {
        if (plain[i] == 0) continue;
        ASSERT_EQ(plain[i], x[i]);
        ++chosen;
      }
      ASSERT_EQ(chosen, k) << n << ", " << density;
      // The same elements, scaled.
      const float scale = static_cast<float>(static_cast<double>(n) / static_cast<double>(k));
      const Values scaled = code(randk(density, true), x).decoded;
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(scaled[i], plain[i] == 0 ? 0 : scale * x[i]);
    }
  }
}

// Counts how often each of n elements is selected in T draws of k elements. The mean count is T
// k/n. The sum of z^2, scaled by (n-1)/n because the counts sum to T k, is chi-squared with n-1
// degrees of freedom in the limit of many draws. The test allows 6 of its standard deviations,
// which a uniform choice exceeds for less than one seed in 10^7. The mean of x^ over the draws is
// then x, because it is n/k x_i times the fraction of draws that selected i.
TEST(RandK, IsUnbiasedBecauseItChoosesUniformly) {
  constexpr int kDraws = 20000;
  for (const auto& [n, density] : std::vector<std::pair<std::size_t, double>>{
           {100, 0.01}, {100, 0.3}, {257, 0.05}, {33, 0.9}}) {
    HostDevice device;
    auto codec = device.codec(randk(density, true), {17, 0, 0});
    const Values x = normals(n, 1, 10);
    const Tensor in = to_tensor(device, x), wire = codec->empty_wire(device, in);
    const Tensor out = device.empty(n);
    const double part = static_cast<double>(kept_count(density, n)) / static_cast<double>(n);
    std::vector<double> sum(n);
    for (int t = 0; t < kDraws; ++t) {
      codec->encode(wire, in);
      codec->decode(out, wire);
      for (std::size_t i = 0; i < n; ++i) sum[i] += out.floats()[i];
    }
    double z_squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double z = (sum[i] / kDraws / x[i] - 1) / std::sqrt((1 - part) / part / kDraws);
      ASSERT_LT(std::abs(z), 6) << i;
      z_squares += z * z;
    }
    const double freedom = static_cast<double>(n) - 1;
    EXPECT_NEAR(z_squares * freedom / static_cast<double>(n), freedom, 6 * std::sqrt(2 * freedom))
        << n << ", " << density;
  }
}

TEST(Sparse, RefuseDensitiesOutOfRange) {
  for (const char* name : {"topk", "randk"}) {
    for (const double density : {0.0, 1.5, -0.1}) {
      EXPECT_THAT(codec_error({{"name", name}, {"density", density}}),
                  ::testing::StartsWith("/codec/density: "));
    }
    EXPECT_EQ(codec_error({{"name", name}, {"density", 1}}), "no error");
  }
}

}  // namespace
}  // namespace trigram::test::sparse_test
