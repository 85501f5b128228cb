#include "algorithms/peers/spectral_gap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "algorithms/peers/registry.h"

namespace trigram::test::spectral_gap_test {
namespace {

// Closed forms of the second largest modulus of an eigenvalue.

double cosine(int k, int size) { return std::cos(2 * std::numbers::pi * k / size); }

template <class Eigenvalue>
double gap_of(int size, Eigenvalue eigenvalue) {
  double second = 0;
  for (int k = 1; k < size; ++k) second = std::max(second, std::abs(eigenvalue(k)));
  return 1 - second;
}

double gap(const PeerGraphSpec& spec, int size) {
  return spectral_gap(*make_peer_graph(spec, 2), size);
}

TEST(SpectralGap, OfCirculantGraphsFollowsFromTheirFourierModes) {
  for (const int size : {3, 4, 5, 8, 16, 32}) {
    EXPECT_NEAR(gap({"ring"}, size),
                gap_of(size, [&](int k) { return (1 + 2 * cosine(k, size)) / 3; }), 1e-6);
    EXPECT_NEAR(gap({"complete"}, size), 1, 1e-3);
    // |1 + sum over hops of e^(2 pi i k h / P)| / (hops + 1)
    EXPECT_NEAR(gap({"static_exponential"}, size),
                gap_of(size,
                       [&](int k) {
                         double re = 1, im = 0;
                         int n = 1;
                         for (int h = 1; h < size; h *= 2, ++n) {
                           const double phase = 2 * std::numbers::pi * k * h / size;
                           re += std::cos(phase);
                           im += std::sin(phase);
                         }
                         return std::hypot(re, im) / n;
                       }),
                1e-6);
  }
}

TEST(SpectralGap, OfTheTorusFollowsFromItsTwoRings) {
  // 4 x 4: (1 + 2 cos(2 pi a / 4) + 2 cos(2 pi b / 4)) / 5
  double second = 0;
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b)
      if (a + b > 0)
        second = std::max(second, std::abs(1 + 2 * cosine(a, 4) + 2 * cosine(b, 4)) / 5);
  EXPECT_NEAR(gap({"torus"}, 16), 1 - second, 1e-6);
}

TEST(SpectralGap, OfTheStarIsOneOverP) {
  for (const int size : {3, 8, 16}) EXPECT_NEAR(gap({"star"}, size), 1.0 / size, 1e-6);
}

TEST(SpectralGap, IsOneIfAPeriodAveragesExactly) {
  EXPECT_NEAR(gap({"one_peer_exponential"}, 16), 1, 1e-6);
  EXPECT_NEAR(gap({"butterfly"}, 16), 1, 1e-6);
  EXPECT_NEAR(gap({"ring"}, 2), 1, 1e-6);
  for (const int size : {5, 7, 12, 31}) EXPECT_NEAR(gap({"base_k"}, size), 1, 1e-3) << size;
  EXPECT_NEAR(gap({"ring"}, 3), 1, 1e-3);  // weights are floats; the root magnifies their error
}

TEST(SpectralGap, OfARandomMatchingFollowsFromItsMean) {
  // W is a projection, so the mean of W^T W is that of W: 1/2 I + 1/2 (J - I)/(P - 1).
  const double second = 0.5 - 0.5 / 15;
  EXPECT_NEAR(gap({"random_matching"}, 16), 1 - std::sqrt(second), 0.02);
}

TEST(SpectralGap, IsZeroWithoutExchange) {
  EXPECT_NEAR(gap({"butterfly", {{"group", 1}}}, 8), 0, 1e-9);
}

}  // namespace
}  // namespace trigram::test::spectral_gap_test
