#include <gtest/gtest.h>

#include "core/config/config_error.h"
#include "tests/oracles/algorithm_volume.h"
#include "tests/support/expect_volume.h"

// The wait-avoiding algorithms send exactly the bytes and messages of the formulas (invariant D),
// whichever rank is late.

namespace trigram::test::volume_test {
namespace {

/// Eleven steps, optionally with one late rank in each.
Training training_of(const Json& algorithm, const Nodes& nodes, bool late) {
  Training training = training_of(algorithm, nodes);
  if (late) training.cluster.stragglers = {.count = 1, .delay_s = 1e-3};
  training.steps = 11;
  return training;
}

TEST(WaitAvoidingVolume, EagerSgd) {
  for (const Nodes& nodes : {Nodes{1, 1}, Nodes{3, 1}, Nodes{2, 3}, Nodes{8, 1}})
    for (const char* allreduce : {"ring", "recursive_doubling", "rabenseifner"})
      for (const long sync_every : {0, 4})
        for (const bool late : {false, true}) {
          const Json spec = {{"name", "eager_sgd"},
                             {"mode", late ? "solo" : "majority"},
                             {"sync_every", sync_every},
                             {"allreduce", allreduce}};
          SCOPED_TRACE(testing::Message() << spec << nodes.nodes << "x" << nodes.workers);
          const Training training = training_of(spec, nodes, late);
          const Trained trained = train(training);
          expect_volume(trained, eager_sgd_volume(training.cluster.layout(), buckets_of(trained),
                                                  training.steps, sync_every, allreduce));
        }
}

TEST(WaitAvoidingVolume, Wagma) {
  struct Groups {
    Nodes nodes;
    int size;
  };
  for (const auto& [nodes, S] : {Groups{{1, 1}, 1}, Groups{{2, 1}, 2}, Groups{{8, 1}, 2},
                                 Groups{{8, 1}, 4}, Groups{{4, 2}, 8}, Groups{{4, 4}, 4}})
    for (const char* in_group : {"butterfly", "ring", "rabenseifner"})
      for (const bool late : {false, true}) {
        const Json spec = {{"name", "wagma"},
                           {"tau", 4},
                           {"group_size", S},
                           {"group_allreduce", in_group},
                           {"allreduce", late ? "rabenseifner" : "ring"}};
        SCOPED_TRACE(testing::Message() << spec << nodes.nodes << "x" << nodes.workers);
        const Training training = training_of(spec, nodes, late);
        const Trained trained = train(training);
        const std::string inside =
            in_group == std::string("butterfly") ? "recursive_doubling" : in_group;
        expect_volume(trained, wagma_volume(training.cluster.layout(), buckets_of(trained),
                                            training.steps, 4, S, inside, spec["allreduce"]));
      }
}

TEST(WaitAvoidingVolume, WagmaInBuckets) {
  for (const bool late : {false, true}) {
    const Json spec = {{"name", "wagma"}, {"tau", 4}, {"group_size", 4}, {"bucket", "1kB"}};
    const Training training = training_of(spec, {8, 1}, late);
    const Trained trained = train(training);
    EXPECT_GT(buckets_of(trained).size(), 1u);
    Traffic expected(training.cluster.layout());
    for (const std::uint64_t bucket : buckets_of(trained))
      add_wagma_volume(expected, bucket, training.steps, 4, 4, "recursive_doubling", "ring");
    expect_volume(trained, expected);
  }
}

/// In groups, codes travel by allgather; the global averages are exact.
TEST(WaitAvoidingVolume, CodedWagma) {
  for (const bool late : {false, true}) {
    const Json spec = {{"name", "wagma"}, {"tau", 4}, {"group_size", 4}, {"codec", "minmax_uint8"}};
    const Training training = training_of(spec, {8, 1}, late);
    const Trained trained = train(training);
    expect_volume(trained, wagma_volume(training.cluster.layout(), buckets_of(trained),
                                        training.steps, 4, 4, "coded", "ring"));
  }
}

TEST(WagmaOptions, RefuseWhatHasNoGroups) {
  const auto error = [](Json spec, int ranks) {
    spec["name"] = "wagma";
    try {
      train_here(training_of(spec, {ranks, 1}, false));
    } catch (const ConfigError& e) {
      return std::string(e.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(error(Json::object(), 6),
            "/algorithm: groups need a power of two as the number of workers, not 6");
  for (const int S : {1, 3, 16})
    EXPECT_EQ(error({{"group_size", S}}, 8),
              "/algorithm/group_size: expected 0 or a power of two from 2 to 8 workers, not " +
                  std::to_string(S));
  EXPECT_NE(error({{"codec", "gzip"}}, 8).find("/algorithm/codec"), std::string::npos);
  EXPECT_NE(error({{"tau", 0}}, 8).find("/tau"), std::string::npos);
}

}  // namespace
}  // namespace trigram::test::volume_test
