#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/check.h"
#include "core/device/host_device.h"
#include "core/random/philox.h"

namespace trigram::test::nn_ops_test {
namespace {

using Values = std::vector<float>;

class NnOpsTest : public testing::Test {
 protected:
  Tensor tensor(const Values& values) {
    Tensor x = device.empty(values.size());
    std::copy(values.begin(), values.end(), x.floats().begin());
    return x;
  }
  Tensor normals(std::size_t n, long stream = 0) {
    Philox random(1, 0, stream, Purpose::data_set);
    Tensor x = device.empty(n);
    for (float& v : x.floats()) v = random.normal();
    return x;
  }
  static Values values(const Tensor& x) { return {x.floats().begin(), x.floats().end()}; }
  static double dot(const Tensor& a, const Tensor& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.numel(); ++i) {
      sum += static_cast<double>(a.floats()[i]) * b.floats()[i];
    }
    return sum;
  }
  HostDevice device;
  NnOps& nn = device.nn();
};

TEST_F(NnOpsTest, OrthonormalVectorsSpanTheInput) {
  const std::size_t count = 3, length = 50;
  const Tensor before = normals(count * length), after = normals(count * length);
  nn.orthonormalise(count, length, after, Dependent::becomes_zero);
  for (std::size_t i = 0; i < count; ++i) {
    const Tensor input = before.slice(i * length, length);
    double left = dot(input, input);
    for (std::size_t j = 0; j < count; ++j) {
      const Tensor vector = after.slice(j * length, length);
      EXPECT_NEAR(dot(after.slice(i * length, length), vector), i == j, 1e-6);
      if (j <= i) left -= std::pow(dot(input, vector), 2);
    }
    EXPECT_NEAR(left, 0, 1e-4);  // the whole vector lies in the span of the first i vectors
  }
}

TEST_F(NnOpsTest, ALinearlyDependentVectorBecomesZero) {
  const Tensor x = tensor({3, 4, 6, 8, 1, 0});
  nn.orthonormalise(3, 2, x, Dependent::becomes_zero);
  const Values expected = {0.6f, 0.8f, 0, 0, 0.8f, -0.6f};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(x.floats()[i], expected[i], 1e-6) << i;
}

TEST_F(NnOpsTest, ALinearlyDependentVectorIsReplaced) {
  // The second vector depends on the first, and the third is zero; the last finds no direction.
  const Tensor x = tensor({3, 4, 0, 6, 8, 0, 0, 0, 0, 5, 6, 7});
  nn.orthonormalise(4, 3, x, Dependent::is_replaced);
  EXPECT_NEAR(x.floats()[0], 0.6f, 1e-6);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      EXPECT_NEAR(dot(x.slice(i * 3, 3), x.slice(j * 3, 3)), i == j, 1e-6) << i << " " << j;
  for (std::size_t k = 9; k < 12; ++k) EXPECT_EQ(x.floats()[k], 0);
}

TEST_F(NnOpsTest, OrthonormaliseKeepsValuesThatAreNotFinite) {
  for (const Dependent dependent : {Dependent::becomes_zero, Dependent::is_replaced}) {
    const Tensor x = tensor({NAN, 1, 0, INFINITY, 1, 0});
    nn.orthonormalise(2, 3, x, dependent);
    for (const std::size_t i : {0u, 3u}) EXPECT_TRUE(std::isnan(x.floats()[i])) << i;
  }
}

TEST_F(NnOpsTest, NormalisesEveryVectorByItself) {
  const Tensor x = tensor({3, 4, 6, 8, 0, 0});
  nn.normalise(3, 2, x);
  const Values expected = {0.6f, 0.8f, 0.6f, 0.8f, 0, 0};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(x.floats()[i], expected[i], 1e-6) << i;
}

TEST_F(NnOpsTest, GemmIsTheSumOfProducts) {
  const Gemm shapes[] = {{1, 1, 1},   {3, 5, 7},     {32, 10, 64}, {33, 65, 129},
                         {2, 300, 3}, {70, 64, 784}, {4, 4, 0},    {0, 4, 4}};
  for (Gemm shape : shapes) {
    for (int transposes = 0; transposes < 4; ++transposes) {
      shape.transpose_a = transposes & 1;
      shape.transpose_b = transposes & 2;
      const auto [m, n, k, ta, tb] = shape;
      const Tensor a = normals(m * k, 1), b = normals(k * n, 2), c = normals(m * n, 3);
      for (float beta : {0.f, 1.f, -0.5f}) {
        const Values before = values(c);
        if (beta == 0) device.fill(c, NAN);  // it must not be read
        nn.gemm(shape, a, b, beta, c);
        for (std::size_t i = 0; i < m * n; ++i) {
          double sum = 0, magnitude = 1;
          for (std::size_t p = 0; p < k; ++p) {
            const double x = a.floats()[ta ? p * m + i / n : i / n * k + p];
            const double y = b.floats()[tb ? i % n * k + p : p * n + i % n];
            sum += x * y;
            magnitude += std::abs(x * y);
          }
          if (beta != 0) sum += static_cast<double>(beta) * before[i];
          ASSERT_NEAR(c.floats()[i], sum, 1e-6 * magnitude) << m << 'x' << n << 'x' << k;
        }
      }
    }
  }
}

TEST_F(NnOpsTest, BiasAndItsGradient) {
  const Tensor x = tensor({1, 2, 3, 4, 5, 6}), bias = tensor({10, 20, 30}),
               sum = tensor({NAN, NAN, NAN});
  nn.bias(2, 3, x, bias);
  EXPECT_EQ(values(x), (Values{11, 22, 33, 14, 25, 36}));
  nn.bias_grad(2, 3, x, sum);
  EXPECT_EQ(values(sum), (Values{25, 47, 69}));
}

TEST_F(NnOpsTest, ReluAndItsGradient) {
  const Tensor x = tensor({-1, 0, 2, -0.f, 3}), dx = tensor({1, 2, 3, 4, 5});
  nn.relu(x);
  EXPECT_EQ(values(x), (Values{0, 0, 2, 0, 3}));
  nn.relu_grad(x, dx);
  EXPECT_EQ(values(dx), (Values{0, 0, 3, 0, 5}));
  const Tensor diverged = tensor({NAN});
  nn.relu(diverged);
  EXPECT_TRUE(std::isnan(diverged.floats()[0]));
}

// The pixel at position (ky, kx) of the window at (oy, ox), or 0 outside the image, by the
// definition.
float pixel_under(const Window& w, const Tensor& images, std::size_t image, std::size_t oy,
                  std::size_t ox, std::size_t ky, std::size_t kx) {
  const auto y = static_cast<long>(oy * w.stride + ky) - static_cast<long>(w.padding);
  const auto x = static_cast<long>(ox * w.stride + kx) - static_cast<long>(w.padding);
  const auto height = static_cast<long>(w.height), width = static_cast<long>(w.width);
  if (y < 0 || y >= height || x < 0 || x >= width) return 0;
  return images.floats()[image * w.height * w.width + static_cast<std::size_t>(y * width + x)];
}

const Window kWindows[] = {
    {.batch = 2, .channels = 3, .height = 5, .width = 6, .kernel = 3, .stride = 1, .padding = 1},
    {.batch = 1, .channels = 1, .height = 4, .width = 4, .kernel = 2, .stride = 2, .padding = 0},
    {.batch = 2, .channels = 2, .height = 7, .width = 5, .kernel = 3, .stride = 2, .padding = 2},
    {.batch = 1, .channels = 2, .height = 2, .width = 2, .kernel = 5, .stride = 1, .padding = 4},
    {.batch = 3, .channels = 1, .height = 1, .width = 1, .kernel = 1, .stride = 1, .padding = 0},
};

TEST_F(NnOpsTest, Im2colLaysOutTheWindows) {
  for (const Window& w : kWindows) {
    const Tensor images = normals(w.batch * w.channels * w.height * w.width);
    const std::size_t taps = w.channels * w.kernel * w.kernel;
    const Tensor columns = device.empty(w.batch * w.out_height() * w.out_width() * taps);
    device.fill(columns, NAN);
    nn.im2col(w, images, columns);
    std::size_t i = 0;
    for (std::size_t b = 0; b < w.batch; ++b)
      for (std::size_t oy = 0; oy < w.out_height(); ++oy)
        for (std::size_t ox = 0; ox < w.out_width(); ++ox)
          for (std::size_t tap = 0; tap < taps; ++tap) {
            const std::size_t c = tap / (w.kernel * w.kernel);
            const std::size_t ky = tap / w.kernel % w.kernel, kx = tap % w.kernel;
            ASSERT_EQ(columns.floats()[i++],
                      pixel_under(w, images, b * w.channels + c, oy, ox, ky, kx));
          }
  }
}

TEST_F(NnOpsTest, Col2imIsTheTransposeOfIm2col) {
  for (const Window& w : kWindows) {
    const Tensor x = normals(w.batch * w.channels * w.height * w.width, 1);
    const Tensor back = device.empty(x.numel());
    const std::size_t taps = w.channels * w.kernel * w.kernel;
    const Tensor y = normals(w.batch * w.out_height() * w.out_width() * taps, 2);
    const Tensor columns = device.empty(y.numel());
    nn.im2col(w, x, columns);
    nn.col2im(w, y, back);
    EXPECT_NEAR(dot(columns, y), dot(x, back), 1e-4);  // <Ax, y> = <x, A'y>
  }
}

TEST_F(NnOpsTest, MaxPoolChoosesTheLargestAndItsGradientGoesThere) {
  const Window w{.batch = 1, .channels = 2, .height = 2, .width = 4, .kernel = 2, .stride = 2};
  const Tensor x = tensor({1, 2, 3, 4,    //
                           5, 6, 7, 7,    //
                           -1, -2, 0, 0,  //
                           -3, -4, 0, 0});
  const Tensor y = device.empty(4), argmax = device.empty(4), dx = device.empty(16);
  nn.max_pool(w, x, y, argmax);
  EXPECT_EQ(values(y), (Values{6, 7, -1, 0}));
  EXPECT_EQ(values(argmax), (Values{5, 6, 0, 2}));  // the first of equal pixels
  device.fill(dx, NAN);
  nn.max_pool_grad(w, tensor({10, 20, 30, 40}), argmax, dx);
  EXPECT_EQ(values(dx), (Values{0, 0, 0, 0, 0, 10, 20, 0, 30, 0, 40, 0, 0, 0, 0, 0}));
  x.floats()[0] = NAN;
  nn.max_pool(w, x, y, argmax);
  EXPECT_TRUE(std::isnan(y.floats()[0]));
}

TEST_F(NnOpsTest, OverlappingMaxPoolsAddTheirGradients) {
  const Window w{.batch = 1, .channels = 1, .height = 1, .width = 3, .kernel = 1, .stride = 1};
  const Tensor dx = device.empty(3);
  nn.max_pool_grad(w, tensor({1, 2, 4}), tensor({1, 1, 0}), dx);
  EXPECT_EQ(values(dx), (Values{4, 3, 0}));
}

class SoftmaxTest : public NnOpsTest {
 protected:
  static constexpr std::size_t kRows = 7, kClasses = 10;
  Tensor labels() {
    Tensor x = device.empty(kRows, DType::u8);
    for (std::size_t r = 0; r < kRows; ++r) x.values<std::uint8_t>()[r] = r * 3 % kClasses;
    return x;
  }
};

TEST_F(SoftmaxTest, LossAndGradientFollowTheirDefinitions) {
  const Tensor logits = normals(kRows * kClasses), label = labels(), loss = device.empty(1);
  device.axpby(10, logits, 0, logits);
  const Values x = values(logits);
  nn.softmax_xent(kRows, kClasses, logits, label, logits, loss);  // in place
  double mean = 0;
  for (std::size_t r = 0; r < kRows; ++r) {
    const std::size_t right = label.values<std::uint8_t>()[r];
    double sum = 0;
    for (std::size_t c = 0; c < kClasses; ++c) sum += std::exp(x[r * kClasses + c]);
    mean += (std::log(sum) - x[r * kClasses + right]) / kRows;
    for (std::size_t c = 0; c < kClasses; ++c) {
      const double gradient = std::exp(x[r * kClasses + c]) / sum - (c == right);
      ASSERT_NEAR(logits.floats()[r * kClasses + c], gradient / kRows, 1e-7);
    }
  }
  EXPECT_NEAR(loss.floats()[0], mean, 1e-5);
}

TEST_F(SoftmaxTest, LargeLogitsDoNotOverflowAndNaNShows) {
  const Tensor logits = device.empty(kRows * kClasses), label = labels(), loss = device.empty(1);
  device.fill(logits, 1e30f);
  nn.softmax_xent(kRows, kClasses, logits, label, logits, loss);
  EXPECT_NEAR(loss.floats()[0], std::log(10.0), 1e-6);
  for (float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    device.fill(logits, 0);
    logits.floats()[33] = bad;
    nn.softmax_xent(kRows, kClasses, logits, label, logits, loss);
    EXPECT_TRUE(std::isnan(loss.floats()[0]));
  }
}

TEST_F(SoftmaxTest, RefusesLabelsOutsideTheClasses) {
  const Tensor logits = normals(kRows * kClasses), label = labels(), loss = device.empty(1);
  label.values<std::uint8_t>()[3] = kClasses;
  EXPECT_THROW(nn.softmax_xent(kRows, kClasses, logits, label, logits, loss), InvariantError);
}

TEST_F(NnOpsTest, RefusesTensorsThatAreTooShortAndPhantoms) {
  const Tensor x = device.empty(11);
  EXPECT_THROW(nn.bias(3, 4, x, x), InvariantError);
  EXPECT_THROW(nn.gemm({3, 4, 1}, x, x, 0, x), InvariantError);
  EXPECT_THROW(nn.relu(Tensor::phantom(4, DType::f32, 4)), InvariantError);
}

}  // namespace
}  // namespace trigram::test::nn_ops_test
