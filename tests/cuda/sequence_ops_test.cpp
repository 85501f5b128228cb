// Compares the operations of CudaNnOps for language models with host_nn_ops().

#include <gtest/gtest.h>

#include "core/check.h"
#include "tests/cuda/gpu_fixture.h"

namespace trigram::sequence_ops_test {
namespace {

class GpuSequenceOps : public GpuTest {
 protected:
  Twin zeros(std::size_t n) { return twin(std::vector<float>(n)); }
  Twin tame(std::size_t n) { return twin(tame_numbers(n, seed_++)); }
  /// Calls the operation with the tensors of the host, then with those of the GPU.
  template <class Operation, class... Twins>
  void both(const Operation& operation, const Twins&... twins) {
    operation(host.nn(), twins.host...);
    operation(gpu.nn(), twins.gpu...);
  }
  /// Expects equality within 5e-6 times the largest value, because products sum in another order.
  void expect_near(const Twin& t, const std::string& what) {
    const auto values = gpu.download(t.gpu);
    float largest = 0;
    for (const float x : t.host.floats()) largest = std::max(largest, std::abs(x));
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(t.host.floats()[i], values[i], 5e-6f * largest) << what << ", element " << i;
  }

 private:
  int seed_ = 0;
};

using T = const Tensor&;

TEST_F(GpuSequenceOps, AddAndGelu) {
  const Twin x = twin(numbers(1001), DType::f32, 1), y = twin(numbers(1001, 1));
  both([](NnOps& nn, T a, T b) { nn.add(a, b); }, x, y);
  expect_same(y, "add");
  std::vector<float> values = tame_numbers(1001, 2);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= static_cast<float>(i % 40);
  const Twin z = twin(values), d = tame(1001);
  both([](NnOps& nn, T a, T b) { nn.gelu(a, b); }, z, y);
  expect_same(y, "gelu");
  both([](NnOps& nn, T a, T b) { nn.gelu_grad(a, b); }, z, d);
  expect_same(d, "gelu_grad");
}

TEST_F(GpuSequenceOps, Embeddings) {
  for (const std::size_t cols : {1, 40, 300}) {
    const std::size_t rows = 37;
    std::vector<float> indices(rows);
    for (std::size_t r = 0; r < rows; ++r) indices[r] = static_cast<float>(r * r * 5 % 256);
    const Twin table = tame(256 * cols), index = twin(indices, DType::u8, 1),
               y = zeros(rows * cols);
    both([&](NnOps& nn, T t, T i, T out) { nn.embedding(rows, cols, t, i, out); }, table, index, y);
    expect_same(y, "embedding");
    const Twin dy = tame(rows * cols);
    for (const float beta : {0.0f, 1.0f, 0.5f}) {
      both([&](NnOps& nn, T d, T i, T t) { nn.embedding_grad(rows, cols, d, i, beta, t); }, dy,
           index, table);
      expect_same(table, "embedding_grad");
    }
  }
}

TEST_F(GpuSequenceOps, LayerNorm) {
  for (const std::size_t cols : {1, 31, 96, 200}) {
    const std::size_t rows = 11, n = rows * cols;
    const Twin x = tame(n), gain = tame(cols), bias = tame(cols), dy = tame(n);
    const Twin normalised = zeros(n), scale = zeros(rows), y = zeros(n), dx = zeros(n);
    both([&](NnOps& nn, T a, T g, T b, T c, T s,
             T out) { nn.layer_norm(rows, cols, a, g, b, c, s, out); },
         x, gain, bias, normalised, scale, y);
    expect_same(y, "y");
    expect_same(normalised, "normalised");
    expect_same(scale, "scale");
    both([&](NnOps& nn, T g, T s, T d, T c,
             T out) { nn.layer_norm_grad(rows, cols, g, s, d, c, out); },
         gain, scale, dy, normalised, dx);
    expect_same(dx, "dx");
    expect_same(normalised, "dgain");
  }
}

TEST_F(GpuSequenceOps, Attention) {
  for (const auto& lengths : std::vector<std::vector<std::size_t>>{{1}, {40, 7, 1}, {5, 5}})
    for (const std::size_t heads : {1, 3}) {
      const Attention shape{.lengths = lengths, .heads = heads, .head_width = 4};
      const std::size_t n = shape.rows() * shape.width();
      const Twin qkv = tame(3 * n), p = zeros(shape.pairs()), y = zeros(n);
      both([&](NnOps& nn, T a, T b, T c) { nn.attention(shape, a, b, c); }, qkv, p, y);
      expect_near(p, "probabilities");
      expect_near(y, "y");
      const Twin dy = tame(n), dp = zeros(shape.pairs()), dx = zeros(3 * n);
      both([&](NnOps& nn, T a, T b, T c, T d, T e) { nn.attention_grad(shape, a, b, c, d, e); },
           qkv, p, dy, dp, dx);
      expect_near(dx, "dqkv");
    }
}

TEST_F(GpuSequenceOps, Gru) {
  const std::size_t rows = 5, cols = 70, n = rows * cols;
  const Twin x = tame(3 * n), h = tame(3 * n), previous = tame(n), gates = zeros(3 * n),
             state = zeros(n);
  both([&](NnOps& nn, T a, T b, T c, T d, T e) { nn.gru(rows, cols, a, b, c, d, e); }, x, h,
       previous, gates, state);
  expect_same(gates, "gates");
  expect_same(state, "state");
  const Twin d = tame(n), dx = zeros(3 * n), dprevious = tame(n);
  both([&](NnOps& nn, T a, T b, T c, T e, T f,
           T g) { nn.gru_grad(rows, cols, a, b, c, e, f, b, g); },
       gates, h, previous, d, dx, dprevious);
  expect_same(dx, "dx");
  expect_same(h, "dh");
  expect_same(dprevious, "dprevious");
}

TEST_F(GpuSequenceOps, RejectTensorsThatAreTooShort) {
  const Tensor x = gpu.empty(8);
  const std::vector<std::size_t> lengths = {2};
  EXPECT_THROW(gpu.nn().embedding(1, 8, x, x, x), InvariantError);
  EXPECT_THROW(gpu.nn().layer_norm(3, 3, x, x, x, x, x, x), InvariantError);
  EXPECT_THROW(gpu.nn().attention({.lengths = lengths, .heads = 1, .head_width = 2}, x, x, x),
               InvariantError);
}

}  // namespace
}  // namespace trigram::sequence_ops_test
