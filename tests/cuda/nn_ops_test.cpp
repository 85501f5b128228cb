// Compares CudaNnOps with host_nn_ops().

#include <gtest/gtest.h>

#include "core/check.h"
#include "tests/cuda/gpu_fixture.h"

namespace trigram::nn_ops_test {
namespace {

class GpuNnOps : public GpuTest {
 protected:
  /// Expects equality within `tolerance` times the largest value, because the GPU may sum in
  /// another order.
  void expect_near(const Twin& t, float tolerance = 2e-6f) {
    const auto values = gpu.download(t.gpu);
    float largest = 0;
    for (const float x : t.host.floats()) largest = std::max(largest, std::abs(x));
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(t.host.floats()[i], values[i], tolerance * largest) << "element " << i;
    }
  }
};

TEST_F(GpuNnOps, MultipliesMatrices) {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      for (const float beta : {0.0f, 1.0f, 0.5f}) {
        for (const std::size_t k : {0, 1, 17}) {
          const Gemm shape{.m = 5, .n = 9, .k = k, .transpose_a = ta, .transpose_b = tb};
          const Twin a = twin(tame_numbers(5 * k)), b = twin(tame_numbers(9 * k, 1));
          const Twin c = twin(tame_numbers(45, 2));
          host.nn().gemm(shape, a.host, b.host, beta, c.host);
          gpu.nn().gemm(shape, a.gpu, b.gpu, beta, c.gpu);
          expect_near(c);
        }
      }
    }
  }
}

TEST_F(GpuNnOps, AGemmWithoutBetaDoesNotReadItsResult) {
  const Gemm shape{.m = 2, .n = 2, .k = 3};
  const Twin a = twin(tame_numbers(6)), b = twin(tame_numbers(6, 1));
  const Twin c = twin(std::vector<float>(4, std::numeric_limits<float>::quiet_NaN()));
  host.nn().gemm(shape, a.host, b.host, 0, c.host);
  gpu.nn().gemm(shape, a.gpu, b.gpu, 0, c.gpu);
  expect_near(c);
}

TEST_F(GpuNnOps, AddsBiasesAndTheirGradients) {
  for (const auto& [rows, cols] : std::vector<std::pair<std::size_t, std::size_t>>{
           {1, 1}, {3, 10}, {100, 33}, {65, 64}, {0, 4}}) {
    const Twin x = twin(tame_numbers(rows * cols), DType::f32, 1), b = twin(tame_numbers(cols, 1));
    host.nn().bias(rows, cols, x.host, b.host);
    gpu.nn().bias(rows, cols, x.gpu, b.gpu);
    expect_same(x, "bias");
    host.nn().bias_grad(rows, cols, x.host, b.host);
    gpu.nn().bias_grad(rows, cols, x.gpu, b.gpu);
    expect_same(b, "bias_grad");
  }
}

TEST_F(GpuNnOps, Relu) {
  const Twin x = twin(numbers(1001), DType::f32, 1), d = twin(numbers(1001, 1));
  host.nn().relu(x.host);
  gpu.nn().relu(x.gpu);
  expect_same(x, "relu");
  host.nn().relu_grad(x.host, d.host);
  gpu.nn().relu_grad(x.gpu, d.gpu);
  expect_same(d, "relu_grad");
}

const Window kWindows[] = {
    {.batch = 2, .channels = 3, .height = 7, .width = 6, .kernel = 3, .stride = 1, .padding = 1},
    {.batch = 1, .channels = 2, .height = 8, .width = 8, .kernel = 2, .stride = 2},
    {.batch = 2, .channels = 1, .height = 9, .width = 7, .kernel = 5, .stride = 2, .padding = 2},
    {.batch = 1, .channels = 1, .height = 5, .width = 5, .kernel = 2, .stride = 3},
    {.batch = 1, .channels = 1, .height = 3, .width = 4, .kernel = 3, .stride = 2, .padding = 2},
};

TEST_F(GpuNnOps, MovesImagesToColumnsAndBack) {
  for (const Window& w : kWindows) {
    const std::size_t images = w.batch * w.channels * w.height * w.width;
    const std::size_t columns =
        w.batch * w.channels * w.out_height() * w.out_width() * w.kernel * w.kernel;
    const Twin x = twin(numbers(images)), c = twin(std::vector<float>(columns, 9));
    host.nn().im2col(w, x.host, c.host);
    gpu.nn().im2col(w, x.gpu, c.gpu);
    expect_same(c, "im2col");
    const Twin tame = twin(tame_numbers(columns)), back = twin(std::vector<float>(images, 9));
    host.nn().col2im(w, tame.host, back.host);
    gpu.nn().col2im(w, tame.gpu, back.gpu);
    expect_same(back, "col2im");
  }
}

TEST_F(GpuNnOps, PoolsAndPropagatesGradients) {
  for (Window w : kWindows) {
    w.padding = 0;
    const std::size_t images = w.batch * w.channels * w.height * w.width;
    const std::size_t pooled = w.batch * w.channels * w.out_height() * w.out_width();
    std::vector<float> values = numbers(images);
    for (std::size_t i = 0; i + 1 < images; i += 5) values[i] = values[i + 1];  // ties
    const Twin x = twin(values), y = twin(std::vector<float>(pooled)),
               at = twin(std::vector<float>(pooled));
    host.nn().max_pool(w, x.host, y.host, at.host);
    gpu.nn().max_pool(w, x.gpu, y.gpu, at.gpu);
    expect_same(y, "max_pool");
    expect_same(at, "argmax");
    const Twin dy = twin(tame_numbers(pooled)), dx = twin(values);
    host.nn().max_pool_grad(w, dy.host, at.host, dx.host);
    gpu.nn().max_pool_grad(w, dy.gpu, at.gpu, dx.gpu);
    expect_same(dx, "max_pool_grad");
  }
}

TEST_F(GpuNnOps, SoftmaxAndItsLoss) {
  for (const auto& [rows, classes] :
       std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}, {1, 10}, {37, 10}, {3, 100}}) {
    std::vector<float> labels(rows), logits = tame_numbers(rows * classes);
    for (std::size_t r = 0; r < rows; ++r) labels[r] = static_cast<float>(r * 7 % classes);
    // In every other row, some exponentials are below the smallest normal number.
    for (std::size_t i = 0; i < logits.size(); ++i) logits[i] *= i / classes % 2 ? 30 : 10;
    const Twin x = twin(logits), y = twin(labels, DType::u8, 1), loss = twin({0});
    const Twin d = twin(std::vector<float>(rows * classes));
    host.nn().softmax_xent(rows, classes, x.host, y.host, d.host, loss.host);
    gpu.nn().softmax_xent(rows, classes, x.gpu, y.gpu, d.gpu, loss.gpu);
    expect_same(d, "gradient");
    expect_same(loss, "loss");
    // The gradient may overwrite the logits.
    gpu.nn().softmax_xent(rows, classes, x.gpu, y.gpu, x.gpu, loss.gpu);
    EXPECT_EQ(gpu.download(d.gpu), gpu.download(x.gpu));
  }
}

TEST_F(GpuNnOps, AnInvalidLabelOrLogitMakesTheLossNan) {
  const Twin x = twin(tame_numbers(20)), y = twin({3, 10}, DType::u8), loss = twin({0});
  gpu.nn().softmax_xent(2, 10, x.gpu, y.gpu, x.gpu, loss.gpu);
  EXPECT_TRUE(std::isnan(gpu.download(loss.gpu)[0]));
  const Twin diverged = twin(numbers(10)), label = twin({3}, DType::u8);
  gpu.nn().softmax_xent(1, 10, diverged.gpu, label.gpu, diverged.gpu, loss.gpu);
  EXPECT_TRUE(std::isnan(gpu.download(loss.gpu)[0]));
}

TEST_F(GpuNnOps, Orthonormalises) {
  for (const Dependent dependent : {Dependent::becomes_zero, Dependent::is_replaced})
    for (const std::size_t length : {1, 5, 1500}) {
      const std::size_t count = 4;
      std::vector<float> values = tame_numbers(count * length);
      // The third vector depends linearly on the first.
      for (std::size_t i = 0; i < length; ++i) values[2 * length + i] = 3 * values[i];
      const Twin x = twin(values);
      host.nn().orthonormalise(count, length, x.host, dependent);
      gpu.nn().orthonormalise(count, length, x.gpu, dependent);
      expect_near(x);
      const auto result = gpu.download(x.gpu);
      double norm = 0;
      for (std::size_t i = 2 * length; i < 3 * length; ++i) norm += result[i] * result[i];
      // In one dimension there is no other direction.
      EXPECT_NEAR(norm, dependent == Dependent::is_replaced && length > 1 ? 1 : 0, 1e-5);
    }
}

TEST_F(GpuNnOps, Normalises) {
  for (const std::size_t length : {1, 5, 1500}) {
    const std::size_t count = 300;
    std::vector<float> values = tame_numbers(count * length);
    std::fill_n(values.begin() + 7 * static_cast<std::ptrdiff_t>(length), length, 0.f);
    const Twin x = twin(values);
    host.nn().normalise(count, length, x.host);
    gpu.nn().normalise(count, length, x.gpu);
    expect_near(x);
  }
}

TEST_F(GpuNnOps, RejectsTensorsThatAreTooShort) {
  const Tensor x = gpu.empty(8);
  EXPECT_THROW(gpu.nn().bias(3, 3, x, x), InvariantError);
  EXPECT_THROW(gpu.nn().gemm({.m = 3, .n = 3, .k = 3}, x, x, 0, x), InvariantError);
  EXPECT_THROW(gpu.nn().softmax_xent(2, 4, x, x, x, x), InvariantError);
  EXPECT_THROW(gpu.nn().max_pool({.batch = 1, .channels = 1, .height = 2, .width = 2, .padding = 1},
                                 x, x, x),
               InvariantError);
}

}  // namespace
}  // namespace trigram::nn_ops_test
