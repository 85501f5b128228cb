// Sums of late gradients: nothing is lost and nothing counts twice.
#include <gtest/gtest.h>

#include "tests/support/affine_training.h"
#include "tests/support/worlds.h"

namespace trigram::test::conservation_test {
namespace {

constexpr double kLr = 0.125;

/// Whichever rank is late, all ranks have applied the same sums at the end, and every gradient that
/// was sent is in one of them. If gradients do not depend on the weights, the total change of all
/// models is known.
class ConservationTest : public NamedWorldTest {};
INSTANTIATE_TEST_SUITE_P(Worlds, ConservationTest, every_named_world(), named_world_test_name);

TEST_P(ConservationTest, EagerSgdAppliesEveryGradientOnce) {
  constexpr long kSteps = 20;
  constexpr int P = 5;
  for (const char* mode : {"solo", "majority"}) {
    const auto ends =
        train({.world = GetParam(),
               .cluster = flat_cluster(P),
               .algorithm = {{"name", "eager_sgd"}, {"mode", mode}, {"sync_every", 0}},
               .steps = kSteps,
               .slope = 0,
               .compute_s = 1e-3,
               .delay = [](int rank, long t) { return (rank + t) % 3 == 0 ? 4e-3 : 0; }});
    const auto x = common_weights(ends);
    expect_near(x, std::vector<double>(P, x[0]));
    double all = 0, sent = 0;  // gradients of all steps; gradients that were sent
    long updates = 0;
    for (int r = 0; r < P; ++r) {
      const long own = ends[static_cast<std::size_t>(r)].staleness.updates;
      EXPECT_LE(own, kSteps);
      EXPECT_GT(own, 0);
      updates += own;
      sent += static_cast<double>(own) * (r + 1);
      all += static_cast<double>(kSteps) * (r + 1);
    }
    EXPECT_NEAR(x[0], 1 - kLr * sent / P, 1e-4) << mode;
    EXPECT_LE(sent, all);
    EXPECT_GE(updates, kSteps);
  }
}

}  // namespace
}  // namespace trigram::test::conservation_test
