#include "tests/oracles/server_volume.h"

#include <gtest/gtest.h>

#include "tests/support/expect_volume.h"

// Invariant D for parameter servers: every rank sends exactly the bytes and messages that formulas
// predict, which are written independently of the algorithms.

namespace trigram::test::server_volume_test {
namespace {

class ServerVolume : public ::testing::TestWithParam<Nodes> {
 protected:
  Layout layout() const { return Layout(GetParam().nodes, GetParam().workers); }
  /// Adds `codec` to the options, unless it is null. Returns the bytes of n elements.
  static CodeBytes add_codec(Json& algorithm, const Json& codec) {
    if (codec.is_null()) return [](std::uint64_t n) { return 4 * n; };
    algorithm["codec"] = codec;
    return code_bytes(codec);
  }
};

TEST_P(ServerVolume, ParameterServer) {
  for (const int servers : {1, 2, 3, layout().ranks()})
    for (const char* bucket : {"0B", "2kB", "10MiB"})
      for (const std::uint64_t partition : {100u, 1000u, 4096000u}) {
        if (servers > layout().ranks()) continue;
        SCOPED_TRACE(testing::Message() << servers << " " << bucket << " " << partition);
        const Training training = training_of({{"name", "parameter_server"},
                                               {"servers", servers},
                                               {"bucket", bucket},
                                               {"partition", std::to_string(partition) + "B"}},
                                              GetParam());
        const Trained trained = train(training);
        EXPECT_EQ(trained.model(), 1003u);
        expect_volume(trained,
                      parameter_server_volume(layout(), buckets_of(trained), training.steps,
                                              static_cast<std::uint64_t>(servers), partition));
      }
}

TEST_P(ServerVolume, AsyncParameterServer) {
  std::vector<Json> codecs = codecs_of_every_size();
  codecs.push_back(nullptr);
  for (const int servers : {1, 2, 3, layout().ranks()})
    for (const Json& codec : codecs) {
      if (servers > layout().ranks()) continue;
      SCOPED_TRACE(testing::Message() << servers << " " << codec);
      Json algorithm = {{"name", "async_parameter_server"}, {"servers", servers}};
      const CodeBytes nbytes = add_codec(algorithm, codec);
      const Training training = training_of(algorithm, GetParam());
      expect_volume(train(training),
                    async_parameter_server_volume(layout(), 1003, training.steps,
                                                  static_cast<std::uint64_t>(servers), nbytes));
    }
}

TEST_P(ServerVolume, Ssp) {
  const Json codes[] = {nullptr, "minmax_uint8", {{"name", "topk"}, {"density", 0.1}}};
  for (const int servers : {1, 2, 3, layout().ranks()})
    for (const long staleness : {0, 2})
      for (const Json& codec : codes) {
        if (servers > layout().ranks()) continue;
        SCOPED_TRACE(testing::Message() << servers << " " << staleness << " " << codec);
        Json algorithm = {{"name", "ssp"}, {"servers", servers}, {"staleness", staleness}};
        const CodeBytes nbytes = add_codec(algorithm, codec);
        const Training training = training_of(algorithm, GetParam());
        expect_volume(train(training), ssp_volume(layout(), 1003, training.steps,
                                                  static_cast<std::uint64_t>(servers), nbytes));
      }
}

/// If servers answer without a request, they send only answers, and workers send only pushes.
TEST_P(ServerVolume, ParameterServerWithoutAcknowledgements) {
  for (const int servers : {1, 3, layout().ranks()})
    for (const char* bucket : {"0B", "10MiB"}) {
      if (servers > layout().ranks()) continue;
      SCOPED_TRACE(testing::Message() << servers << " " << bucket);
      const Training training = training_of({{"name", "parameter_server"},
                                             {"servers", servers},
                                             {"acknowledged", false},
                                             {"bucket", bucket},
                                             {"partition", "1000B"}},
                                            GetParam());
      const Trained trained = train(training);
      expect_volume(trained, parameter_server_volume(layout(), buckets_of(trained), training.steps,
                                                     static_cast<std::uint64_t>(servers), 1000, 100,
                                                     false, false));
    }
}

/// With the priority `need`, the number of a partition, and with it its server, depends on the
/// order in which partitions are needed.
TEST_P(ServerVolume, ParameterServerByNeed) {
  for (const int servers : {1, 2, 3, layout().ranks()})
    for (const std::uint64_t early : {0u, 25u, 50u, 100u}) {
      if (servers > layout().ranks()) continue;
      SCOPED_TRACE(testing::Message() << servers << " " << early);
      const Training training = training_of({{"name", "parameter_server"},
                                             {"servers", servers},
                                             {"bucket", "600B"},
                                             {"partition", "100B"},
                                             {"priority", "need"},
                                             {"early", static_cast<double>(early) / 100}},
                                            GetParam());
      const Trained trained = train(training);
      expect_volume(trained,
                    parameter_server_volume(layout(), buckets_of(trained), training.steps,
                                            static_cast<std::uint64_t>(servers), 100, early));
    }
}

TEST_P(ServerVolume, ParameterServerBeside) {
  for (const int servers : {1, 2, 3, layout().ranks() - 1})
    for (const char* bucket : {"0B", "10MiB"})
      for (const std::uint64_t partition : {100u, 4096000u})
        for (const std::uint64_t early : {50u, 100u}) {
          if (servers < 1 || servers >= layout().ranks()) continue;
          SCOPED_TRACE(testing::Message()
                       << servers << " " << bucket << " " << partition << " " << early);
          Json algorithm = {{"name", "parameter_server"},
                            {"servers", servers},
                            {"placement", "beside"},
                            {"bucket", bucket},
                            {"partition", std::to_string(partition) + "B"}};
          if (early < 100)
            algorithm.update({{"priority", "need"}, {"early", static_cast<double>(early) / 100}});
          const Training training = training_of(algorithm, GetParam());
          const Trained trained = train(training);
          expect_volume(trained, parameter_server_volume(
                                     layout(), buckets_of(trained), training.steps,
                                     static_cast<std::uint64_t>(servers), partition, early, true));
        }
}

TEST_P(ServerVolume, ParameterServerByNodes) {
  for (const int servers : {1, 2, GetParam().nodes})
    for (const char* bucket : {"0B", "2kB"})
      for (const std::uint64_t partition : {100u, 1000u, 4096000u}) {
        if (servers > GetParam().nodes) continue;
        SCOPED_TRACE(testing::Message() << servers << " " << bucket << " " << partition);
        const Training training = training_of({{"name", "parameter_server"},
                                               {"servers", servers},
                                               {"hierarchical", true},
                                               {"bucket", bucket},
                                               {"partition", std::to_string(partition) + "B"}},
                                              GetParam());
        const Trained trained = train(training);
        expect_volume(trained, parameter_server_by_nodes_volume(
                                   layout(), buckets_of(trained), training.steps,
                                   static_cast<std::uint64_t>(servers), partition));
      }
}

/// The key of a part determines its server, for all placements of servers and for all ranks. The
/// number of a bucket in the key is not its position in the order of messages.
TEST_P(ServerVolume, HashedParameterServer) {
  const int ranks = layout().ranks();
  for (const int servers : {1, 2, 3, ranks})
    for (const char* bucket : {"0B", "600B", "10MiB"})
      for (const std::uint64_t partition : {100u, 1000u})
        for (const char* mode : {"among", "beside", "by nodes"}) {
          const bool beside = std::string(mode) == "beside",
                     by_nodes = mode == std::string("by nodes");
          if (servers > (by_nodes ? GetParam().nodes : ranks - (beside ? 1 : 0))) continue;
          SCOPED_TRACE(testing::Message() << servers << bucket << partition << mode);
          const Training training = training_of({{"name", "parameter_server"},
                                                 {"assignment", "djb2"},
                                                 {"servers", servers},
                                                 {"placement", beside ? "beside" : "among"},
                                                 {"hierarchical", by_nodes},
                                                 {"bucket", bucket},
                                                 {"partition", std::to_string(partition) + "B"},
                                                 {"priority", "need"}},
                                                GetParam());
          const Trained trained = train(training);
          const auto k = static_cast<std::uint64_t>(servers);
          expect_volume(trained,
                        by_nodes
                            ? hashed_parameter_server_by_nodes_volume(layout(), buckets_of(trained),
                                                                      training.steps, k, partition)
                            : hashed_parameter_server_volume(layout(), buckets_of(trained),
                                                             training.steps, k, partition, beside));
        }
}

INSTANTIATE_TEST_SUITE_P(Layouts, ServerVolume,
                         ::testing::Values(Nodes{1, 1}, Nodes{2, 1}, Nodes{3, 1}, Nodes{1, 4},
                                           Nodes{2, 3}, Nodes{4, 4}),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace trigram::test::server_volume_test
