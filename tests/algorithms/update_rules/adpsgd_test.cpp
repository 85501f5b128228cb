#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/codecs/registry.h"
#include "tests/oracles/codec_references.h"
#include "tests/support/affine_training.h"
#include "tests/support/worlds.h"

// AD-PSGD: its averages in pairs, compared with its equations, and the quantities that it
// conserves.

namespace trigram::test::adpsgd_test {
namespace {

constexpr double kLr = 0.125;
constexpr std::size_t kNumel = 10;

Json adpsgd(const Json& options = Json::object()) {
  Json spec = {{"name", "adpsgd"}};
  spec.update(options);
  return spec;
}

class AdPsgdRule : public AffineTest {
 protected:
  std::vector<double> weights(int ranks, const Json& algorithm, long steps, double slope) {
    return common_weights(train(training(ranks, algorithm, steps, slope)));
  }
};

/// If gradients do not depend on the weights, the mean model follows the mean gradient, whichever
/// ranks average, and whenever they do.
TEST_P(AdPsgdRule, ConservesTheMean) {
  constexpr long kSteps = 40;
  for (const int ranks : {2, 4, 5, 8})
    for (const char* graph : {"bipartite", "star", "ring"})
      for (const int interval : {1, 3}) {
        if (graph == std::string("ring") && ranks % 2 != 0) continue;
        SCOPED_TRACE(testing::Message() << graph << " of " << ranks << ", interval " << interval);
        const auto x =
            weights(ranks, adpsgd({{"graph", graph}, {"interval_steps", interval}}), kSteps, 0);
        ASSERT_EQ(x.size(), static_cast<std::size_t>(ranks));
        EXPECT_NEAR(mean(x), 1 - kLr * kSteps * (ranks + 1) / 2.0, 2e-4);
        // Passive workers may finish before any request; a star has only one active rank.
        if (!is_simulated(GetParam()) || graph == std::string("star")) continue;
        // The distance by which ranks would drift apart without averages.
        const double alone = kLr * kSteps * (ranks - 1);
        const auto [low, high] = std::minmax_element(x.begin(), x.end());
        EXPECT_LT(*high - *low, 0.8 * alone) << "averages bring models together";
      }
}

/// The mean is conserved with every codec, whatever the codec loses.
TEST_P(AdPsgdRule, ConservesTheMeanWithEveryCodec) {
  constexpr int kRanks = 6;
  constexpr long kSteps = 5;
  for (const auto& entry : codecs()) {
    Json codec = {{"name", entry.name}};
    if (entry.name == "randk") codec.update({{"unbiased", false}, {"density", 0.25}});
    SCOPED_TRACE(codec);
    AffineTraining run = training(kRanks, adpsgd({{"graph", "ring"}, {"codec", codec}}), kSteps, 0);
    run.tilt = 0.3;
    const auto ends = train(run);
    ASSERT_EQ(ends.size(), static_cast<std::size_t>(kRanks));
    for (std::size_t i = 0; i < kNumel; ++i) {
      double sum = 0;
      for (const AffineEnd& end : ends) sum += static_cast<double>(end.weights.at(i));
      const double slant = 1 + run.tilt * static_cast<double>(i);
      EXPECT_NEAR(sum / kRanks, 1 - kLr * kSteps * (kRanks + 1) / 2.0 * slant, 1e-4) << i;
    }
  }
}

using Vector = std::vector<float>;

/// AD-PSGD with equally fast workers. Between one step and the next, all pairs of the rotating
/// bipartite graph average, while gradients are computed at the earlier weights.
template <class Code>
std::vector<Vector> synchronous_pairs(std::size_t P, const AffineTraining& run, Code code) {
  // x: the models; old: the weights at which gradients are taken.
  std::vector<Vector> x(P, Vector(kNumel, 1)), old = x;
  std::map<std::pair<std::size_t, std::size_t>, Vector> references;
  for (std::size_t t = 0; t < static_cast<std::size_t>(run.steps); ++t) {
    for (std::size_t r = 0; r < P; ++r) {
      for (std::size_t k = 0; k < kNumel; ++k)
        x[r][k] -= static_cast<float>(
            run.lr * (run.slope * double{old[r][k]} +
                      static_cast<double>(r + 1) * (1 + run.tilt * static_cast<double>(k))));
      old[r] = x[r];
    }
    for (std::size_t i = 0; i < P; i += 2) {
      const std::size_t j = (i + 2 * (t % (P / 2)) + 1) % P;
      Vector& r = references.try_emplace({i, j}, Vector(kNumel, 1)).first->second;
      Vector q_i(kNumel), q_j(kNumel);
      for (std::size_t k = 0; k < kNumel; ++k) {
        q_i[k] = x[i][k] - r[k];
        q_j[k] = x[j][k] - r[k];
      }
      q_i = code(q_i);
      q_j = code(q_j);
      for (std::size_t k = 0; k < kNumel; ++k) {
        x[i][k] += (q_j[k] - q_i[k]) / 2;
        x[j][k] += (q_i[k] - q_j[k]) / 2;
        r[k] += (q_i[k] + q_j[k]) / 2;
      }
    }
  }
  return x;
}

TEST_P(AdPsgdRule, AveragesDifferencesFromReferencesOfPairs) {
  if (!is_simulated(GetParam())) GTEST_SKIP() << "needs workers of exactly equal speed";
  const auto identity = [](const Vector& z) { return z; };
  const auto in_8_bits = [](const Vector& z) {
    return minmax_uint8_decode(minmax_uint8_encode(z), z.size());
  };
  for (const int ranks : {2, 4, 6}) {
    Json spec = adpsgd({{"graph", {{"name", "bipartite"}, {"hop", "rotating"}}}});
    for (const char* codec : {"none", "minmax_uint8"}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, codec " << codec);
      spec["codec"] = codec;
      AffineTraining run = training(ranks, spec, 4, 0.5);
      run.tilt = 0.3;
      const auto P = static_cast<std::size_t>(ranks);
      const auto exact = synchronous_pairs(P, run, identity);
      const auto coded = synchronous_pairs(P, run, in_8_bits);
      const auto& expected = codec == std::string("none") ? exact : coded;
      const auto ends = train(run);
      ASSERT_EQ(ends.size(), P);
      double loss = 0;
      for (std::size_t r = 0; r < P; ++r)
        for (std::size_t k = 0; k < kNumel; ++k) {
          EXPECT_NEAR(ends[r].weights.at(k), expected[r][k], 2e-5) << "rank " << r << ", " << k;
          loss = std::max(loss, std::abs(double{coded[r][k]} - double{exact[r][k]}));
        }
      EXPECT_GT(loss, 1e-4) << "the code loses something";
    }
  }
}

/// Three steps have no average; then the centre averages with a leaf.
TEST_P(AdPsgdRule, DrawsOneOfSeveralPartners) {
  if (!is_simulated(GetParam())) GTEST_SKIP() << "needs workers of exactly equal speed";
  std::vector<double> alone(5, 1);
  for (int t = 0; t < 3; ++t)
    for (std::size_t r = 0; r < alone.size(); ++r)
      alone[r] -= kLr * (0.5 * alone[r] + static_cast<double>(r) + 1);
  const auto x = weights(5, adpsgd({{"graph", "star"}, {"interval_steps", 3}}), 3, 0.5);
  int averaged = 0;
  for (std::size_t leaf = 1; leaf < 5; ++leaf) {
    if (std::abs(x.at(leaf) - alone[leaf]) < 1e-5) continue;
    ++averaged;
    EXPECT_NEAR(x[leaf], (alone[0] + alone[leaf]) / 2, 1e-5);
    EXPECT_NEAR(x[0], x[leaf], 1e-6);
  }
  EXPECT_EQ(averaged, 1);
}

TEST_P(AdPsgdRule, OneWorkerStepsAlone) {
  double x = 1;
  for (int t = 0; t < 3; ++t) x -= kLr * (0.5 * x + 1);
  expect_near(weights(1, "adpsgd", 3, 0.5), {x});
}

INSTANTIATE_TEST_SUITE_P(Worlds, AdPsgdRule, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::adpsgd_test
