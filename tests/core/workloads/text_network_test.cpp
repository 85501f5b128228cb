#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ostream>

#include "core/device/host_device.h"
#include "core/device/null_device.h"
#include "core/random/philox.h"
#include "core/workloads/text_data.h"
#include "core/workloads/text_network.h"
#include "tests/oracles/text_reference.h"

namespace trigram::test::text_network_test {
namespace {

struct Case {
  const char* name;
  TextArchitecture architecture;
};
void PrintTo(const Case& tested, std::ostream* out) { *out << tested.name; }

using Kind = TextArchitecture::Kind;

class TextNetworks : public ::testing::TestWithParam<Case> {
 protected:
  TextNetworks() : network_(network_of(lines_)) {
    lengths_ = network_->tensor_lengths();
    numel_ = std::accumulate(lengths_.begin(), lengths_.end(), std::size_t{0});
    weights_ = host_.empty(numel_);
    gradients_ = host_.empty(numel_);
    network_->initialise(weights_.floats(), 5);
    // Moves biases and gains from their initial values.
    Philox random(6, 0, 0, Purpose::data_set);
    for (float& w : weights_.floats()) w += 0.2f * random.normal();
  }

  /// A network that holds these lines.
  std::unique_ptr<TextNetwork> network_of(const std::vector<std::string>& lines) {
    const TextArchitecture& architecture = GetParam().architecture;
    std::vector<std::uint32_t> all(lines.size());
    std::iota(all.begin(), all.end(), 0u);
    const TextBatch batch = pack(lines, all, architecture.order());
    auto network = std::make_unique<TextNetwork>(host_, architecture, batch.lengths);
    host_.upload(network->inputs(), batch.inputs);
    host_.upload(network->labels(), batch.labels);
    return network;
  }
  double loss_of(TextNetwork& network) {
    network.forward(host_.nn(), weights_);
    return static_cast<double>(network.loss().floats()[0]);
  }
  double reference(const std::vector<double>& weights) const {
    const TextArchitecture& a = GetParam().architecture;
    return reference_text_loss({a.kind == Kind::gru, a.width, a.layers, a.heads, a.tied}, lines_,
                               weights);
  }

  const std::vector<std::string> lines_ = {"ab", "bbaca b", "", "c\xff b"};
  HostDevice host_;
  std::unique_ptr<TextNetwork> network_;
  std::vector<std::size_t> lengths_;
  std::size_t numel_ = 0;
  Tensor weights_, gradients_;
};

TEST_P(TextNetworks, LossAndGradientAgreeWithTheReference) {
  std::vector<double> weights(weights_.floats().begin(), weights_.floats().end());
  EXPECT_NEAR(loss_of(*network_), reference(weights), 1e-5);
  network_->backward(host_.nn(), weights_, gradients_, [] {});
  double error = 0, norm = 0;
  std::size_t begin = 0;
  for (const std::size_t length : lengths_) {
    // Of the tables with one entry per byte, a part, with bytes that occur and others.
    const std::size_t every = length >= 256 ? 5 : 1;
    double own_error = 0, own_norm = 0;
    for (std::size_t i = begin; i < begin + length; i += every) {
      const double slope = central_difference(weights, i, [&] { return reference(weights); });
      own_error += std::pow(slope - static_cast<double>(gradients_.floats()[i]), 2);
      own_norm += slope * slope;
    }
    // A bias of keys moves all scores of a query equally, so a third of that gradient is 0.
    EXPECT_GT(own_norm, 0) << "tensor at " << begin;
    EXPECT_LT(std::sqrt(own_error), 1e-4 * std::sqrt(own_norm) + 1e-8) << "tensor at " << begin;
    error += own_error;
    norm += own_norm;
    begin += length;
  }
  EXPECT_LT(std::sqrt(error / norm), 1e-5);
}

TEST_P(TextNetworks, TheLossOfABatchIsTheMeanOverTheBytesOfItsLines) {
  double sum = 0, bytes = 0;
  for (const std::string& line : lines_) {
    const auto own = static_cast<double>(line.size() + 1);
    sum += own * loss_of(*network_of({line}));
    bytes += own;
  }
  EXPECT_NEAR(loss_of(*network_), sum / bytes, 1e-6);
}

TEST_P(TextNetworks, TensorsCompleteInOrderAndMayBeUpdatedAtOnce) {
  loss_of(*network_);
  network_->backward(host_.nn(), weights_, gradients_, [] {});
  const std::vector<float> expected(gradients_.floats().begin(), gradients_.floats().end());
  loss_of(*network_);  // backward uses up the state that forward has left
  host_.fill(gradients_, 1e30f);
  std::size_t tensor = 0, begin = 0;
  network_->backward(host_.nn(), weights_, gradients_, [&] {
    const std::size_t length = lengths_.at(tensor++);
    for (std::size_t i = begin; i < begin + length; ++i)
      EXPECT_EQ(gradients_.floats()[i], expected[i]);
    std::ranges::fill(weights_.floats().subspan(begin, length), 1e10f);
    begin += length;
  });
  EXPECT_EQ(begin, numel_);
  EXPECT_TRUE(std::ranges::equal(gradients_.floats(), expected));
}

TEST_P(TextNetworks, InitialWeightsPredictAlmostNothing) {
  network_->initialise(weights_.floats(), 5);
  // The logits of a tied table have the variance 1.
  EXPECT_NEAR(loss_of(*network_), std::log(256), GetParam().architecture.tied ? 1.5 : 0.4);
  const std::vector<float> first(weights_.floats().begin(), weights_.floats().end());
  network_->initialise(weights_.floats(), 5);
  EXPECT_TRUE(std::ranges::equal(weights_.floats(), first));
  network_->initialise(weights_.floats(), 6);
  EXPECT_FALSE(std::ranges::equal(weights_.floats(), first));
}

const Case kCases[] = {
    {"transformer", {.width = 6, .layers = 2, .heads = 2}},
    {"tied_transformer", {.width = 4, .layers = 1, .heads = 1, .tied = true}},
    {"gru", {.kind = Kind::gru, .width = 5, .layers = 2}},
    {"tied_gru", {.kind = Kind::gru, .width = 3, .layers = 1, .tied = true}},
};
INSTANTIATE_TEST_SUITE_P(Networks, TextNetworks, ::testing::ValuesIn(kCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(TextTensors, HaveTheDocumentedOrder) {
  NullDevice null;
  const std::size_t w = 6;
  const std::vector<std::size_t> block = {w, 4 * w * w, 4 * w, 4 * w * w, w, w,
                                          w, w * w,     3 * w, 3 * w * w, w, w};
  std::vector<std::size_t> expected = {256, 256 * w, w, w};
  for (int i = 0; i < 2; ++i) expected.insert(expected.end(), block.begin(), block.end());
  expected.push_back(256 * w);
  EXPECT_EQ(TextNetwork(null, kCases[0].architecture, {1}).tensor_lengths(), expected);
  EXPECT_EQ(TextNetwork(null, kCases[3].architecture, {1}).tensor_lengths(),
            (std::vector<std::size_t>{3, 3, 9, 27, 9, 27, 768}));
}

}  // namespace
}  // namespace trigram::test::text_network_test
