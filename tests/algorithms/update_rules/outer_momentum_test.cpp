// Methods with blocks of local steps, either with an outer optimizer or from a switch on, computed
// by hand.

#include <gtest/gtest.h>

#include "tests/algorithms/update_rules/centralised_rules.h"

namespace trigram::test::outer_momentum_test {
namespace {

using namespace centralised;

class BlockRules : public CentralisedRules {
 protected:
  /// Blocks of two steps on all workers. The next block begins at the model `outer(average)`.
  template <class Outer>
  static std::vector<double> in_blocks(std::size_t ranks, int steps, Outer outer) {
    std::vector<double> x(ranks, 1);
    for (int t = 0; t < steps; ++t) {
      for (std::size_t r = 0; r < ranks; ++r) x[r] -= kLr * gradient(x[r], r);
      if (t % 2 == 1) x.assign(ranks, outer(mean(x)));
    }
    return x;
  }
};

TEST_P(BlockRules, PostLocalSgdAveragesGradientsUntilItsSwitch) {
  const auto expected = [](std::size_t ranks) {
    double common = 1, momentum = 0;
    for (int t = 0; t < 3; ++t) {
      momentum = 0.5 * momentum + mean_gradient(common, ranks);
      common -= kLr * momentum;
    }
    std::vector<double> x(ranks, common), m(ranks, momentum);
    for (int t = 3; t < 8; ++t) {
      for (std::size_t r = 0; r < ranks; ++r) {
        m[r] = 0.5 * m[r] + gradient(x[r], r);
        x[r] -= kLr * m[r];
      }
      if (t == 4 || t == 6) x.assign(ranks, mean(x));
    }
    return x;
  };
  check({{"name", "post_local_sgd"}, {"switch_step", 3}, {"sync_every", 2}}, 8, expected,
        {{"name", "sgd"}, {"lr", kLr}, {"momentum", 0.5}});
}

/// W is the paper's global model, and a block begins at W_g.
TEST_P(BlockRules, BmufFiltersBlocksByTheirMomentum) {
  const double eta = 0.6, zeta = 0.8;
  for (const bool nesterov : {false, true}) {
    const auto expected = [&](std::size_t ranks) {
      double w = 1, begin = 1, delta = 0;
      return in_blocks(ranks, 7, [&](double average) {
        delta = eta * delta + zeta * (average - begin);
        w += delta;
        return begin = nesterov ? w + eta * delta : w;
      });
    };
    check({{"name", "bmuf"},
           {"sync_every", 2},
           {"block_momentum", eta},
           {"block_lr", zeta},
           {"momentum", nesterov ? "nesterov" : "classical"}},
          7, expected);
  }
}

TEST_P(BlockRules, TheMomentumOfBmufFollowsFromTheNumberOfWorkers) {
  const auto expected = [](std::size_t ranks) {
    const double eta = 1 - 1 / static_cast<double>(ranks);
    double begin = 1, delta = 0;
    return in_blocks(ranks, 6, [&](double average) {
      delta = eta * delta + average - begin;
      return begin += delta;
    });
  };
  check({{"name", "bmuf"}, {"sync_every", 2}, {"momentum", "classical"}}, 6, expected);
}

TEST_P(BlockRules, DiLoCoStepsAlongItsPseudoGradientWithNesterovsMomentum) {
  const double lr = 0.7, mu = 0.9;
  const auto expected = [&](std::size_t ranks) {
    double start = 1, v = 0;
    return in_blocks(ranks, 8, [&](double average) {
      const double d = start - average;
      v = mu * v + d;
      return start -= lr * (d + mu * v);
    });
  };
  check({{"name", "diloco"}, {"sync_every", 2}}, 8, expected);
}

TEST_P(BlockRules, DiLoCoWithoutMomentumAtAnOuterRateOfOneIsLocalSgd) {
  const auto expected = [](std::size_t ranks) {
    return in_blocks(ranks, 6, [](double average) { return average; });
  };
  check({{"name", "diloco"}, {"sync_every", 2}, {"outer_lr", 1}, {"outer_momentum", 0}}, 6,
        expected);
}

INSTANTIATE_TEST_SUITE_P(Worlds, BlockRules, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::outer_momentum_test
