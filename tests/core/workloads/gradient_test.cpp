#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "core/device/host_device.h"
#include "core/random/philox.h"
#include "core/workloads/network.h"

namespace trigram::gradient_test {
namespace {

struct Case {
  const char* name;
  Architecture architecture;
  // The order is: bias and weight of the last layer, then those of the layer before it, and so on.
  std::vector<std::size_t> lengths;
};

void PrintTo(const Case& tested, std::ostream* out) { *out << tested.name; }

class Gradient : public ::testing::TestWithParam<Case> {
 protected:
  static constexpr std::size_t kBatch = 3;

  Gradient() : network_(host_, GetParam().architecture, kBatch) {
    for (std::size_t length : network_.tensor_lengths()) numel_ += length;
    weights_ = host_.empty(numel_);
    gradients_ = host_.empty(numel_);
    network_.initialise(weights_.floats(), 5);
    Philox random(6, 0, 0, Purpose::data_set);
    // Biases would be 0 at first, where the zero gradient of inactive relus would hide errors.
    for (float& w : weights_.floats()) w += 0.1f * random.normal();
    for (float& x : network_.images().floats()) x = random.normal();
    for (auto& label : network_.labels().values<std::uint8_t>())
      label = static_cast<std::uint8_t>(
          random.below(static_cast<std::uint32_t>(GetParam().architecture.classes)));
  }

  double loss() {
    network_.forward(host_.nn(), weights_);
    return network_.loss().floats()[0];
  }

  HostDevice host_;
  NeuralNetwork network_;
  std::size_t numel_ = 0;
  Tensor weights_, gradients_;
};

TEST_P(Gradient, AgreesWithFiniteDifferences) {
  loss();
  network_.backward(host_.nn(), weights_, gradients_, [] {});
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < numel_; ++i) {
    float& w = weights_.floats()[i];
    const float original = w;
    const float h = 1e-2f;
    w = original + h;
    const double above = loss();
    w = original - h;
    const double below = loss();
    w = original;
    const double slope = (above - below) / (2 * static_cast<double>(h));
    error += std::pow(slope - static_cast<double>(gradients_.floats()[i]), 2);
    norm += slope * slope;
  }
  EXPECT_GT(norm, 1e-3);
  // The tolerance is needed because relu is not differentiable everywhere, and f32 has 24 bits.
  EXPECT_LT(std::sqrt(error / norm), 0.02);
}

TEST_P(Gradient, TensorsCompleteInOrderAndStayComplete) {
  EXPECT_EQ(network_.tensor_lengths(), GetParam().lengths);
  loss();
  std::ranges::fill(gradients_.floats(), 1e30f);
  std::vector<float> seen;  // the value of each tensor when it was reported
  network_.backward(host_.nn(), weights_, gradients_, [&, tensor = std::size_t{0}]() mutable {
    const std::size_t length = GetParam().lengths.at(tensor++);
    const auto held = gradients_.floats().subspan(seen.size(), length);
    for (float g : held) EXPECT_NE(g, 1e30f);
    seen.insert(seen.end(), held.begin(), held.end());
  });
  ASSERT_EQ(seen.size(), numel_);
  for (std::size_t i = 0; i < numel_; ++i) EXPECT_EQ(seen[i], gradients_.floats()[i]);
}

TEST_P(Gradient, WeightsMayBeUpdatedOnceTheirTensorIsReported) {
  loss();
  network_.backward(host_.nn(), weights_, gradients_, [] {});
  const std::vector<float> expected(gradients_.floats().begin(), gradients_.floats().end());
  loss();  // backward uses up the state that forward has left
  std::size_t tensor = 0, begin = 0;
  network_.backward(host_.nn(), weights_, gradients_, [&] {
    const std::size_t length = GetParam().lengths.at(tensor++);
    std::ranges::fill(weights_.floats().subspan(begin, length), 1e10f);
    begin += length;
  });
  EXPECT_TRUE(std::ranges::equal(gradients_.floats(), expected));
}

TEST_P(Gradient, InitialisationFollowsHe) {
  network_.initialise(weights_.floats(), 5);
  const Tensor again = host_.empty(numel_);
  network_.initialise(again.floats(), 5);
  std::size_t begin = 0;
  for (std::size_t tensor = 0; tensor < GetParam().lengths.size(); ++tensor) {
    const auto values = weights_.floats().subspan(begin, GetParam().lengths[tensor]);
    if (tensor % 2 == 0) {
      for (float b : values) EXPECT_EQ(b, 0.0f);
    } else {
      const double fan_in =
          static_cast<double>(values.size()) / static_cast<double>(GetParam().lengths[tensor - 1]);
      double squares = 0;
      for (float w : values) {
        EXPECT_LE(std::abs(w), std::sqrt(6 / fan_in));
        squares += w * w;
      }
      EXPECT_NEAR(squares / static_cast<double>(values.size()) * fan_in / 2, 1, 0.5);
    }
    begin += values.size();
  }
  for (std::size_t i = 0; i < numel_; ++i) EXPECT_EQ(weights_.floats()[i], again.floats()[i]);
}

const Case kCases[] = {
    {"linear", {3, 4, 5, {}, {}}, {5, 60}},
    {"mlp", {3, 4, 5, {}, {7}}, {5, 35, 7, 84}},
    {"deep_mlp", {2, 2, 3, {}, {6, 5}}, {3, 15, 5, 30, 6, 24}},
    {"cnn", {7, 6, 3, {2, 3}, {}}, {3, 9, 3, 54, 2, 18}},
    {"cnn_hidden", {4, 4, 3, {2}, {5}}, {3, 15, 5, 40, 2, 18}},
};

INSTANTIATE_TEST_SUITE_P(Networks, Gradient, ::testing::ValuesIn(kCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace trigram::gradient_test
