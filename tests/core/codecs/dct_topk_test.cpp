// The codec dct_topk, against the sums that define the transform, in double precision.

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "tests/support/codec_testing.h"
#include "tests/support/vector_targets.h"

namespace trigram::test::dct_topk_test {
namespace {

/// A row-major matrix.
struct Matrix {
  std::size_t rows, columns;
  std::vector<double> values;
};

double dct(std::size_t n, std::size_t k, std::size_t i) {
  const auto count = static_cast<double>(n);
  return std::sqrt((k == 0 ? 1 : 2) / count) *
         std::cos(std::numbers::pi * (2.0 * static_cast<double>(i) + 1) * static_cast<double>(k) /
                  (2 * count));
}

/// Transforms rows, then columns; or back.
Matrix transformed(const Matrix& x, bool back) {
  Matrix half{x.rows, x.columns, std::vector<double>(x.values.size())}, result = half;
  for (std::size_t r = 0; r < x.rows; ++r)
    for (std::size_t c = 0; c < x.columns; ++c)
      for (std::size_t j = 0; j < x.columns; ++j)
        half.values[r * x.columns + c] +=
            (back ? dct(x.columns, j, c) : dct(x.columns, c, j)) * x.values[r * x.columns + j];
  for (std::size_t r = 0; r < x.rows; ++r)
    for (std::size_t c = 0; c < x.columns; ++c)
      for (std::size_t j = 0; j < x.rows; ++j)
        result.values[r * x.columns + c] +=
            (back ? dct(x.rows, j, r) : dct(x.rows, r, j)) * half.values[j * x.columns + c];
  return result;
}

Matrix chunk_of(const Values& x, std::size_t begin, std::size_t n) {
  const std::size_t columns = std::min<std::size_t>(n, 64), rows = (n + columns - 1) / columns;
  Matrix chunk{rows, columns, std::vector<double>(rows * columns)};
  for (std::size_t i = 0; i < n; ++i) chunk.values[i] = x[begin + i];
  return chunk;
}

/// Sets all but the `kept` largest coefficients to 0.
void keep_largest(Matrix& coefficients, std::size_t kept) {
  std::vector<std::size_t> order(coefficients.values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(coefficients.values[a]) > std::abs(coefficients.values[b]);
  });
  for (std::size_t i = kept; i < order.size(); ++i) coefficients.values[order[i]] = 0;
}

TEST(DctTopK, KeepsTheLargestCoefficientsOfEveryChunk) {
  for (const std::size_t rest : {5, 64, 65, 1000}) {
    const Values x = normals(4096 + rest, 1.f);
    for (const std::size_t keep : {32, 700}) {
      const Values decoded = code({"dct_topk", {{"keep", keep}}}, x).decoded;
      for (const std::size_t begin : {0, 4096}) {
        const std::size_t n = begin == 0 ? 4096 : rest;
        Matrix coefficients = transformed(chunk_of(x, begin, n), false);
        keep_largest(coefficients, (n * keep + 4095) / 4096);
        const Matrix expected = transformed(coefficients, true);
        // A value loses up to 2^-9 of itself by rounding.
        for (std::size_t i = 0; i < n; ++i)
          ASSERT_NEAR(decoded[begin + i], expected.values[i], 0.03) << rest << " " << keep << i;
      }
    }
  }
}

/// With all coefficients, only their rounding is left, in a norm that the transform keeps. A chunk
/// whose last row is padded has more coefficients than elements, so not all can be kept.
TEST(DctTopK, KeepsNorms) {
  for (const std::size_t n : {1, 7, 64, 640, 4096, 4096 + 192}) {
    const Values x = normals(n, 1.f);
    const Values decoded = code({"dct_topk", {{"keep", 4096}}}, x).decoded;
    const double loss = distance_squared(x, decoded) / norm2_squared(x);
    EXPECT_LT(loss, 0x1p-18) << n;
    EXPECT_LT(std::abs(norm2_squared(decoded) / norm2_squared(x) - 1), 0x1p-7) << n;
  }
}

/// A constant has one coefficient, 64 times its value, and a ramp along rows few.
TEST(DctTopK, SmoothChunksNeedFewCoefficients) {
  const Coded constant = code({"dct_topk", {{"keep", 1}}}, Values(4096, 0.5f));
  EXPECT_EQ(constant.wire, (Bytes{0, 0, 0x20, 0x04, 0, 0, 0}));  // 32 is the bf16 0x4200
  for (const float v : constant.decoded) EXPECT_NEAR(v, 0.5, 1e-6);
  Values ramp(4096);
  for (std::size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<float>(i % 64) - 31.5f;
  const Values decoded = code({"dct_topk", {{"keep", 4}}}, ramp).decoded;
  EXPECT_LT(distance_squared(ramp, decoded) / norm2_squared(ramp), 1e-3);
}

TEST(DctTopK, TheWireHas112BytesForAChunk) {
  EXPECT_EQ(code({"dct_topk"}, normals(4096)).wire.size(), 32u * 28 / 8);
  EXPECT_EQ(code({"dct_topk"}, normals(4096 + 129)).wire.size(), 32u * 28 / 8 + 7);
}

/// Both codes have the constant's coefficient; one has another coefficient, too.
TEST(DctTopK, TheMeanCanBeOverTheSendersOfACoefficient) {
  const Values flat(64, 1.f);
  Values wave(64);
  for (std::size_t i = 0; i < 64; ++i)
    wave[i] = 3 + 2 * static_cast<float>(std::sqrt(32.0) * dct(64, 5, i));
  HostDevice device;
  for (const char* mean : {"all", "senders"}) {
    const auto codec = device.codec({"dct_topk", {{"keep", 128}, {"mean", mean}}});
    std::vector<Tensor> wires;
    for (const Values& values : {flat, wave}) {
      const Tensor x = to_tensor(device, values);
      wires.push_back(codec->empty_wire(device, x));
      codec->encode(wires.back(), x);
    }
    const Tensor x = device.empty(64);
    codec->decode_mean(device, x, wires);
    const float share = mean == std::string("all") ? 0.5f : 1;
    for (std::size_t i = 0; i < 64; ++i)
      EXPECT_NEAR(x.floats()[i], 2 + share * (wave[i] - 3), 0.02) << mean << i;
  }
}

}  // namespace
}  // namespace trigram::test::dct_topk_test
