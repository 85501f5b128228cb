#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "core/check.h"
#include "core/device/host_device.h"
#include "core/device/null_device.h"
#include "core/device/timed_device.h"
#include "core/math/elementary.h"
#include "core/random/philox.h"
#include "tests/oracles/text_reference.h"

namespace trigram::test::sequence_ops_test {
namespace {

/// Compares the operations for language models with references in f64, and their gradients with
/// central differences of these references.
class SequenceOps : public testing::Test {
 protected:
  Tensor tensor(const std::vector<double>& values) {
    Tensor x = device.empty(values.size());
    std::copy(values.begin(), values.end(), x.floats().begin());
    return x;
  }
  Tensor bytes(const std::vector<std::uint8_t>& values) {
    Tensor x = device.empty(values.size(), DType::u8);
    std::copy(values.begin(), values.end(), x.values<std::uint8_t>().begin());
    return x;
  }
  /// Numbers that are exact in f32, so that the operation and its reference see the same.
  std::vector<double> normals(std::size_t n) {
    Philox random(3, 0, stream_++, Purpose::data_set);
    std::vector<double> x(n);
    for (double& v : x) v = static_cast<double>(random.normal());
    return x;
  }
  static void expect_near(const Tensor& actual, const std::vector<double>& expected,
                          double tolerance) {
    ASSERT_EQ(actual.numel(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(actual.floats()[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << i;
  }
  /// Expects that `gradient` is the gradient of sum(dy * f()) for the elements of x, which f reads.
  static void expect_gradient(const Tensor& gradient, std::vector<double>& x,
                              const std::vector<double>& dy,
                              const std::function<std::vector<double>()>& f) {
    const auto objective = [&] {
      const std::vector<double> y = f();
      return std::inner_product(y.begin(), y.end(), dy.begin(), 0.0);
    };
    std::vector<double> slopes(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) slopes[i] = central_difference(x, i, objective);
    expect_near(gradient, slopes, 3e-6);
  }
  static DoubleRows rows_of(const std::vector<double>& x, std::size_t cols) {
    DoubleRows rows;
    for (auto at = x.begin(); at != x.end(); at += static_cast<std::ptrdiff_t>(cols))
      rows.emplace_back(at, at + static_cast<std::ptrdiff_t>(cols));
    return rows;
  }
  static void append(std::vector<double>& to, const DoubleRow& row) {
    to.insert(to.end(), row.begin(), row.end());
  }

  HostDevice device;
  NnOps& nn = device.nn();

 private:
  long stream_ = 0;
};

TEST_F(SequenceOps, AddIsASum) {
  const Tensor x = tensor({1, 2, 3}), y = tensor({10, 20, 30});
  nn.add(x, y);
  expect_near(y, {11, 22, 33}, 0);
}

TEST_F(SequenceOps, EmbeddingLooksUpRowsAndItsGradientAddsThem) {
  const auto table = normals(256 * 2), dy = normals(4 * 2), before = normals(256 * 2);
  const std::vector<std::uint8_t> indices = {7, 255, 7, 0};
  const Tensor y = device.empty(8);
  nn.embedding(4, 2, tensor(table), bytes(indices), y);
  for (const double beta : {0.0, 1.0, -0.5}) {
    std::vector<double> expected(256 * 2);
    for (std::size_t i = 0; i < expected.size(); ++i)
      expected[i] = beta == 0 ? 0 : beta * before[i];
    for (std::size_t r = 0; r < 4; ++r)
      for (std::size_t c = 0; c < 2; ++c) {
        EXPECT_EQ(y.floats()[2 * r + c], static_cast<float>(table[2 * indices[r] + c]));
        expected[2 * indices[r] + c] += dy[2 * r + c];
      }
    const Tensor dtable = tensor(before);
    if (beta == 0) device.fill(dtable, NAN);  // it must not be read
    nn.embedding_grad(4, 2, tensor(dy), bytes(indices), static_cast<float>(beta), dtable);
    expect_near(dtable, expected, 1e-6);
  }
  EXPECT_THROW(nn.embedding(5, 2, tensor(table), bytes(indices), y), InvariantError);
}

TEST_F(SequenceOps, LayerNorm) {
  for (const std::size_t cols : {1, 5, 33, 96}) {
    const std::size_t rows = 3;
    auto x = normals(rows * cols), gain = normals(cols), bias = normals(cols);
    const auto dy = normals(rows * cols);
    const auto reference = [&] {
      std::vector<double> y;
      for (const DoubleRow& row : rows_of(x, cols))
        append(y, reference_layer_norm(row, gain, bias));
      return y;
    };
    const Tensor y = device.empty(rows * cols), normalised = device.empty(rows * cols),
                 scale = device.empty(rows), dx = device.empty(rows * cols),
                 dgain = device.empty(cols);
    nn.layer_norm(rows, cols, tensor(x), tensor(gain), tensor(bias), normalised, scale, y);
    expect_near(y, reference(), 2e-6);
    nn.layer_norm_grad(rows, cols, tensor(gain), scale, tensor(dy), normalised, dx);
    nn.bias_grad(rows, cols, normalised, dgain);
    // The variance of a single column is 0, so its scale is 1 / sqrt(1e-5).
    if (cols > 1) expect_gradient(dx, x, dy, reference);
    expect_gradient(dgain, gain, dy, reference);
  }
}

TEST_F(SequenceOps, Gelu) {
  std::vector<double> x = normals(50);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= 3;
  x.insert(x.end(), {0, -20, 20, -1000, 1000});
  std::vector<float> rounded(x.begin(), x.end());
  x.assign(rounded.begin(), rounded.end());
  const auto reference = [&x] {
    std::vector<double> y;
    for (const double v : x) y.push_back(reference_gelu(v));
    return y;
  };
  const auto dy = normals(x.size());
  const Tensor y = device.empty(x.size()), dx = tensor(dy);
  nn.gelu(tensor(x), y);
  expect_near(y, reference(), 1e-6);
  nn.gelu_grad(tensor(x), dx);
  expect_gradient(dx, x, dy, reference);
  const Tensor diverged = tensor({std::nan("")});
  nn.gelu(diverged, diverged);
  EXPECT_TRUE(std::isnan(diverged.floats()[0]));
}

TEST_F(SequenceOps, Attention) {
  for (const auto& lengths : std::vector<std::vector<std::size_t>>{{1}, {6, 4, 1}, {40}})
    for (const std::size_t heads : {1, 3}) {
      const Attention shape{.lengths = lengths, .heads = heads, .head_width = 2};
      const std::size_t width = shape.width(), rows = shape.rows();
      auto qkv = normals(rows * 3 * width);
      const auto dy = normals(rows * width);
      const auto reference = [&] {
        std::vector<double> y;
        const DoubleRows all = rows_of(qkv, 3 * width);
        auto at = all.begin();
        for (const std::size_t length : lengths) {
          const auto end = at + static_cast<std::ptrdiff_t>(length);
          for (const DoubleRow& row : reference_attention({at, end}, heads)) append(y, row);
          at = end;
        }
        return y;
      };
      const Tensor p = device.empty(shape.pairs()), dp = device.empty(shape.pairs()),
                   y = device.empty(rows * width), dx = device.empty(3 * rows * width);
      nn.attention(shape, tensor(qkv), p, y);
      expect_near(y, reference(), 2e-6);
      nn.attention_grad(shape, tensor(qkv), p, tensor(dy), dp, dx);
      expect_gradient(dx, qkv, dy, reference);
      const auto first = p.floats().first(lengths[0]);  // the first row sees only itself
      EXPECT_EQ(first[0], 1.0f);
      for (std::size_t j = 1; j < first.size(); ++j) EXPECT_EQ(first[j], 0.0f);
    }
}

TEST_F(SequenceOps, Gru) {
  const std::size_t rows = 3, cols = 5;
  auto x = normals(rows * 3 * cols), h = normals(rows * 3 * cols), previous = normals(rows * cols);
  const auto dy = normals(rows * cols);
  const auto reference = [&] {
    std::vector<double> y;
    for (std::size_t r = 0; r < rows; ++r)
      append(y, reference_gru(rows_of(x, 3 * cols)[r], rows_of(h, 3 * cols)[r],
                              rows_of(previous, cols)[r]));
    return y;
  };
  const Tensor gates = device.empty(rows * 3 * cols), state = device.empty(rows * cols),
               dx = device.empty(rows * 3 * cols), dh = tensor(h);
  nn.gru(rows, cols, tensor(x), dh, tensor(previous), gates, state);
  expect_near(state, reference(), 1e-6);
  const Tensor dprevious = device.empty(rows * cols);
  device.fill(dprevious, 0);
  nn.gru_grad(rows, cols, gates, dh, tensor(previous), tensor(dy), dx, dh, dprevious);
  expect_gradient(dx, x, dy, reference);
  expect_gradient(dh, h, dy, reference);
  expect_gradient(dprevious, previous, dy, reference);
  // A second time, it adds.
  nn.gru_grad(rows, cols, gates, tensor(h), tensor(previous), tensor(dy), dx, dh, dprevious);
  device.axpby(0.5f, dprevious, 0, dprevious);
  expect_gradient(dprevious, previous, dy, reference);
}

TEST_F(SequenceOps, ElementaryFunctions) {
  for (float x = -95; x < 95; x += 0.37f) {
    EXPECT_NEAR(sigmoid_portable(x), 1 / (1 + std::exp(-static_cast<double>(x))), 2e-7);
    EXPECT_NEAR(tanh_portable(x), std::tanh(static_cast<double>(x)), 3e-7);
  }
  EXPECT_NEAR(attention_slope(0, 4), 1.0 / 4, 1e-6);  // the slopes of four heads
  EXPECT_NEAR(attention_slope(3, 4), 1.0 / 256, 1e-8);
  EXPECT_TRUE(std::isnan(sigmoid_portable(NAN)));
}

class Charges final : public CostSink {
 public:
  void charge(const Cost& cost) override { all.push_back(cost); }
  std::vector<Cost> all;
};

TEST(SequenceOpsPrices, AttentionDependsOnTheSquaresOfTheLengths) {
  NullDevice null;
  Charges charges;
  TimedDevice device(null, charges);
  const std::vector<std::size_t> even = {50, 50}, uneven = {90, 10};
  for (const auto& lengths : {even, uneven}) {
    const Attention shape{.lengths = lengths, .heads = 2, .head_width = 64};
    const std::size_t n = shape.rows() * shape.width();
    const Tensor x = device.empty(3 * n), y = device.empty(n), p = device.empty(shape.pairs());
    device.nn().attention(shape, x, p, y);
    device.nn().attention_grad(shape, x, p, y, p, x);
  }
  ASSERT_EQ(charges.all.size(), 4u);
  EXPECT_NEAR(charges.all[2].flops / charges.all[0].flops, 8200.0 / 5000, 1e-9);
  EXPECT_GE(charges.all[0].flops, 2 * 2.0 * 2 * 64 * 5000);  // two products
  EXPECT_GE(charges.all[1].flops, 4 * 2.0 * 2 * 64 * 5000);  // four products
  EXPECT_LT(charges.all[1].flops, 4.2 * 2.0 * 2 * 64 * 5000);
  EXPECT_EQ(charges.all[0].launches, 6);
}

}  // namespace
}  // namespace trigram::test::sequence_ops_test
