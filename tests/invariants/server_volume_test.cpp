#include "tests/oracles/server_volume.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/support/expect_volume.h"

// Invariant D for parameter servers: every rank sends exactly the bytes and messages that formulas
// predict, which are written independently of the algorithms.

namespace trigram::test::server_volume_test {
namespace {

class ServerVolume : public VolumeTest {
 protected:
  /// 1, 2, 3 and `max` servers, but no more than `max`.
  static std::set<std::uint64_t> server_counts(int max) {
    std::set<std::uint64_t> counts;
    for (const int count : {1, 2, 3, max})
      if (count >= 1 && count <= max) counts.insert(static_cast<std::uint64_t>(count));
    return counts;
  }
  static std::string in_bytes(std::uint64_t n) { return std::to_string(n) + "B"; }
  /// Adds `codec` to the options, unless it is null. Returns the bytes of n elements.
  static CodeBytes add_codec(Json& algorithm, const Json& codec) {
    if (codec.is_null()) return [](std::uint64_t n) { return 4 * n; };
    algorithm["codec"] = codec;
    return code_bytes(codec);
  }
};

TEST_P(ServerVolume, ParameterServer) {
  for (const std::uint64_t servers : server_counts(layout().ranks()))
    for (const char* bucket : {"0B", "2kB", "10MiB"})
      for (const std::uint64_t partition : {100u, 1000u, 4096000u})
        check({{"name", "parameter_server"},
               {"servers", servers},
               {"bucket", bucket},
               {"partition", in_bytes(partition)}},
              [&](const Buckets& buckets) {
                EXPECT_EQ(model_size(buckets), 1003u);
                return parameter_server_volume(layout(), buckets, 3, servers, partition);
              });
}

TEST_P(ServerVolume, AsyncParameterServer) {
  std::vector<Json> codecs = codecs_of_every_size();
  codecs.push_back(nullptr);
  for (const std::uint64_t servers : server_counts(layout().ranks()))
    for (const Json& codec : codecs) {
      Json algorithm = {{"name", "async_parameter_server"}, {"servers", servers}};
      const CodeBytes nbytes = add_codec(algorithm, codec);
      check(algorithm, [&](const Buckets&) {
        return async_parameter_server_volume(layout(), 1003, 3, servers, nbytes);
      });
    }
}

/// Of three steps, two make a block, and the last one another.
TEST_P(ServerVolume, AsyncDiLoCo) {
  for (const std::uint64_t servers : server_counts(layout().ranks()))
    for (const Json& codec : {Json(), Json("minmax_uint8")})
      for (const bool dynamic : {false, true}) {
        Json algorithm = {{"name", "async_diloco"},
                          {"sync_every", 2},
                          {"servers", servers},
                          {"dynamic_steps", dynamic}};
        const CodeBytes nbytes = add_codec(algorithm, codec);
        check(algorithm, [&](const Buckets&) {
          return async_parameter_server_volume(layout(), 1003, 2, servers, nbytes);
        });
      }
}

/// The last rank is the store. In two of five steps, each worker sends it a code for every bucket,
/// and it sends each code to the other workers.
TEST_P(ServerVolume, SparseLoCoThroughAStore) {
  const int store = layout().ranks() - 1;
  if (store == 0) GTEST_SKIP() << "no rank for a worker";
  const CodeBytes nbytes = code_bytes({{"name", "chunk_topk"}});
  for (const char* bucket : {"0B", "10MiB"})
    check(
        {{"name", "sparseloco"}, {"sync_every", 2}, {"through", "store"}, {"bucket", bucket}},
        [&](const Buckets& buckets) {
          Traffic traffic(layout());
          for (const std::uint64_t n : std::string(bucket) == "0B" ? buckets : Buckets{1003})
            for (int worker = 0; worker < store; ++worker) {
              const auto others = static_cast<std::uint64_t>(store - 1);
              if (others == 0) continue;  // a single worker has nothing to exchange
              traffic.send(worker, store, 2, 2 * nbytes(n));
              traffic.send(store, worker, 2 * others, 2 * others * nbytes(n));
            }
          return traffic;
        },
        5);
}

TEST_P(ServerVolume, Ssp) {
  const Json codes[] = {nullptr, "minmax_uint8", {{"name", "topk"}, {"density", 0.1}}};
  for (const std::uint64_t servers : server_counts(layout().ranks()))
    for (const long staleness : {0, 2})
      for (const Json& codec : codes) {
        Json algorithm = {{"name", "ssp"}, {"servers", servers}, {"staleness", staleness}};
        const CodeBytes nbytes = add_codec(algorithm, codec);
        check(algorithm,
              [&](const Buckets&) { return ssp_volume(layout(), 1003, 3, servers, nbytes); });
      }
}

/// If servers answer without a request, they send only answers, and workers send only pushes.
TEST_P(ServerVolume, ParameterServerWithoutAcknowledgements) {
  for (const std::uint64_t servers : server_counts(layout().ranks()))
    for (const char* bucket : {"0B", "10MiB"})
      check({{"name", "parameter_server"},
             {"servers", servers},
             {"acknowledged", false},
             {"bucket", bucket},
             {"partition", "1000B"}},
            [&](const Buckets& buckets) {
              return parameter_server_volume(layout(), buckets, 3, servers, 1000, 100, false,
                                             false);
            });
}

/// With the priority `need`, the number of a partition, and with it its server, depends on the
/// order in which partitions are needed.
TEST_P(ServerVolume, ParameterServerByNeed) {
  for (const std::uint64_t servers : server_counts(layout().ranks()))
    for (const std::uint64_t early : {0u, 25u, 50u, 100u})
      check({{"name", "parameter_server"},
             {"servers", servers},
             {"bucket", "600B"},
             {"partition", "100B"},
             {"priority", "need"},
             {"early", static_cast<double>(early) / 100}},
            [&](const Buckets& buckets) {
              return parameter_server_volume(layout(), buckets, 3, servers, 100, early);
            });
}

TEST_P(ServerVolume, ParameterServerBeside) {
  for (const std::uint64_t servers : server_counts(layout().ranks() - 1))
    for (const char* bucket : {"0B", "10MiB"})
      for (const std::uint64_t partition : {100u, 4096000u})
        for (const std::uint64_t early : {50u, 100u}) {
          Json algorithm = {{"name", "parameter_server"},
                            {"servers", servers},
                            {"placement", "beside"},
                            {"bucket", bucket},
                            {"partition", in_bytes(partition)}};
          if (early < 100)
            algorithm.update({{"priority", "need"}, {"early", static_cast<double>(early) / 100}});
          check(algorithm, [&](const Buckets& buckets) {
            return parameter_server_volume(layout(), buckets, 3, servers, partition, early, true);
          });
        }
}

TEST_P(ServerVolume, ParameterServerByNodes) {
  for (const std::uint64_t servers : server_counts(GetParam().nodes))
    for (const char* bucket : {"0B", "2kB"})
      for (const std::uint64_t partition : {100u, 1000u, 4096000u})
        check({{"name", "parameter_server"},
               {"servers", servers},
               {"hierarchical", true},
               {"bucket", bucket},
               {"partition", in_bytes(partition)}},
              [&](const Buckets& buckets) {
                return parameter_server_by_nodes_volume(layout(), buckets, 3, servers, partition);
              });
}

/// The key of a part determines its server, for all placements of servers and for all ranks. The
/// number of a bucket in the key is not its position in the order of messages.
TEST_P(ServerVolume, HashedParameterServer) {
  for (const std::string mode : {"among", "beside", "by nodes"}) {
    const bool beside = mode == "beside", by_nodes = mode == "by nodes";
    const int max_servers = by_nodes ? GetParam().nodes : layout().ranks() - (beside ? 1 : 0);
    for (const std::uint64_t servers : server_counts(max_servers))
      for (const char* bucket : {"0B", "600B", "10MiB"})
        for (const std::uint64_t partition : {100u, 1000u})
          check({{"name", "parameter_server"},
                 {"assignment", "djb2"},
                 {"servers", servers},
                 {"placement", beside ? "beside" : "among"},
                 {"hierarchical", by_nodes},
                 {"bucket", bucket},
                 {"partition", in_bytes(partition)},
                 {"priority", "need"}},
                [&](const Buckets& buckets) {
                  return by_nodes ? hashed_parameter_server_by_nodes_volume(layout(), buckets, 3,
                                                                            servers, partition)
                                  : hashed_parameter_server_volume(layout(), buckets, 3, servers,
                                                                   partition, beside);
                });
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, ServerVolume,
                         ::testing::Values(Nodes{1, 1}, Nodes{2, 1}, Nodes{3, 1}, Nodes{1, 4},
                                           Nodes{2, 3}, Nodes{4, 4}),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace trigram::test::server_volume_test
