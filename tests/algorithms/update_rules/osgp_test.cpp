#include "tests/algorithms/update_rules/peer_methods.h"

// Overlap stochastic gradient push: a push is added when the next push has begun.

namespace trigram::test::osgp_test {
namespace {

using namespace peer_methods;

struct PushSums {
  Numbers x, w;
};

void add(PushSums& to, const PushSums& sent) {
  for (std::size_t r = 0; r < to.x.size(); ++r) {
    to.x[r] += sent.x[r];
    to.w[r] += sent.w[r];
  }
}

Numbers estimates(const PushSums& state) {
  Numbers z;
  for (std::size_t r = 0; r < state.x.size(); ++r) z.push_back(state.x[r] / state.w[r]);
  return z;
}

struct ExpectedPath {
  std::vector<Numbers> z;  // after each step
  Numbers end;             // when no message is in flight any more
};

ExpectedPath expected_path(const PeerGraphSpec& graph, int P, long tau, long steps) {
  const auto ranks = static_cast<std::size_t>(P);
  PushSums own{Numbers(ranks, 1), Numbers(ranks, 1)};
  PushSums in_flight;
  ExpectedPath path{{}, own.x};
  Numbers z = own.x;
  for (long t = 0; t < steps; ++t) {
    own.x = step_down(own.x, gradients(z));
    if (t % tau == 0) {
      Matrix stays = pushing(graph, P, t / tau), goes = stays;
      for (std::size_t i = 0; i < ranks; ++i)
        for (std::size_t j = 0; j < ranks; ++j) (i == j ? goes : stays)[i][j] = 0;
      const PushSums sent = {times(goes, own.x), times(goes, own.w)};
      own = {times(stays, own.x), times(stays, own.w)};
      if (t > 0) add(own, in_flight);  // adds the shares sent in step t - tau
      in_flight = sent;
    }
    path.z.push_back(z = estimates(own));
  }
  add(own, in_flight);
  path.end = estimates(own);
  return path;
}

class OsgpRule : public PeerMethods {};

TEST_P(OsgpRule, AddsSharesTauStepsAfterTheyWereSent) {
  for (const PeerGraphSpec& graph : {PeerGraphSpec{"one_peer_exponential"},
                                     {"n_peer_exponential", {{"peers", 2}}},
                                     {"star"},
                                     {"random_matching"}})
    for (const int P : {1, 4, 7})
      for (const long tau : {1, 2, 4}) {
        SCOPED_TRACE(testing::Message() << graph.name << " of " << P << ", tau = " << tau);
        Json spec = {
            {"name", "osgp"}, {"graph", peer_graph_kind().dump(graph)}, {"overlap_steps", tau}};
        const ExpectedPath path = expected_path(graph, P, tau, 7);
        const auto whole = train(training(P, spec, 7)),
                   parts = train(training(P, in_buckets(spec), 7));
        expect_near(common_weights(whole), path.end);
        expect_near(common_weights(parts), path.end);
        for (std::size_t t = 0; t < path.z.size(); ++t) expect_near(paths(whole)[t], path.z[t]);
      }
}

/// If all ranks have the same number of peers, w is 1 at the end. If gradients do not depend on the
/// weights, the mean model is where the gradients have brought it.
TEST_P(OsgpRule, ConservesTheSumOfAllModels) {
  for (const int tau : {1, 3}) {
    const auto x = common_weights(
        train(training(6, {{"name", "osgp"}, {"overlap_steps", tau}}, 20, /*slope=*/0)));
    EXPECT_NEAR(mean(x), 1 - kLr * 20 * 3.5, 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, OsgpRule, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::osgp_test
