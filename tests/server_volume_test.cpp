#include "tests/oracles/server_volume.h"

#include <gtest/gtest.h>

#include "tests/support/code_bytes.h"
#include "tests/support/expect_volume.h"

// Invariant D for parameter servers: every rank sends exactly the bytes and messages of formulas
// written apart from the algorithms.

namespace trigram::test {
namespace {

class ServerVolume : public ::testing::TestWithParam<Nodes> {
 protected:
  Layout layout() const { return Layout(GetParam().nodes, GetParam().workers); }
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
  std::vector<Json> codecs = codes_of_every_size();
  codecs.push_back(nullptr);
  for (const int servers : {1, 2, 3, layout().ranks()})
    for (const Json& codec : codecs) {
      if (servers > layout().ranks()) continue;
      SCOPED_TRACE(testing::Message() << servers << " " << codec);
      Json algorithm = {{"name", "async_parameter_server"}, {"servers", servers}};
      CodeBytes nbytes = [](std::uint64_t n) { return 4 * n; };
      if (!codec.is_null()) {
        algorithm["codec"] = codec;
        nbytes = code_bytes(codec);
      }
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
        CodeBytes nbytes = [](std::uint64_t n) { return 4 * n; };
        if (!codec.is_null()) {
          algorithm["codec"] = codec;
          nbytes = code_bytes(codec);
        }
        const Training training = training_of(algorithm, GetParam());
        expect_volume(train(training), ssp_volume(layout(), 1003, training.steps,
                                                  static_cast<std::uint64_t>(servers), nbytes));
      }
}

/// Servers that answer without being asked send pushes and answers alone.
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

/// What is needed first gets its place, and with it its server, from another count.
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
          const Training training = training_of({{"name", "parameter_server"},
                                                 {"servers", servers},
                                                 {"placement", "beside"},
                                                 {"bucket", bucket},
                                                 {"partition", std::to_string(partition) + "B"},
                                                 {"priority", early < 100 ? "need" : "ready"},
                                                 {"early", static_cast<double>(early) / 100}},
                                                GetParam());
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

/// Keys decide which server has a part, wherever servers are and whoever pushes; a bucket's number
/// is not its place in the order of messages.
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

constexpr std::uint64_t kAcknowledgement = 112, kRequest = 120;  // bytes

/// Partitions of 4,096,000 bytes at most.
std::uint64_t partitions_of(const Trained& trained) {
  constexpr std::uint64_t kPartition = 4'096'000;
  std::uint64_t partitions = 0;
  for (const std::size_t n : trained.buckets) partitions += (4 * n + kPartition - 1) / kPartition;
  return partitions;
}

/// By the numbers: a worker that does not serve sends the model once per step, the only server
/// sends it to everybody else; and for each partition a request and an acknowledgement.
TEST(ServerVolumeByTheNumbers, OneServerOfBertLarge) {
  Training training;
  training.algorithm = {{"name", "parameter_server"}, {"servers", 1}};
  training.workload = "bert_large";
  training.cluster = small_cluster(8, 1);
  training.steps = 2;
  const Trained trained = train(training);
  constexpr std::uint64_t kModel = 4u * 334'094'338u;
  const std::uint64_t partitions = partitions_of(trained);
  EXPECT_EQ(sent_by(trained.counters.at(0)).bytes_inter,
            2 * 7 * (kModel + partitions * kAcknowledgement));
  for (std::size_t rank = 1; rank < 8; ++rank)
    EXPECT_EQ(sent_by(trained.counters[rank]).bytes_inter, 2 * (kModel + partitions * kRequest));
}

/// By the numbers: BytePS's partitions of VGG16, a server on each of two machines. Each partition
/// is pushed by the machine that does not serve it, and comes back when that has asked for it;
/// leaders alone do so.
TEST(ServerVolumeByTheNumbers, BytePsPartitionsOfVgg16) {
  Training training;
  training.algorithm = {{"name", "parameter_server"},
                        {"bucket", "0B"},
                        {"partition", "4096000B"},
                        {"hierarchical", true}};
  training.workload = "vgg16";
  training.cluster = small_cluster(2, 2);
  training.steps = 1;
  const Trained trained = train(training);
  const std::uint64_t partitions = partitions_of(trained);
  // fc6 has 101, fc7 17, fc8 4; five convolutions of 9.4 MB 3 each, one of 4.7 MB 2; 23 others 1.
  EXPECT_EQ(partitions, 101u + 17 + 4 + 5 * 3 + 2 + 23);
  std::uint64_t sent = 0;
  for (const std::size_t rank : {0u, 2u}) sent += sent_by(trained.counters.at(rank)).messages_inter;
  EXPECT_EQ(sent, 4 * partitions) << "pushes, acknowledgements, requests, answers";
  for (const std::size_t rank : {1u, 3u})
    EXPECT_EQ(sent_by(trained.counters.at(rank)).messages_inter, 0u);
}

/// What BytePS's hash gives each of 16 servers of VGG16, whose tensors are declared in the order of
/// their names; from a script apart. The fullest has 1.7 times the mean.
constexpr std::uint64_t kVgg16[] = {
    57'344'000, 46'630'912, 34'016'256, 32'787'968, 28'680'960, 20'004'864, 12'290'048, 12'288'000,
    14'127'008, 25'755'904, 31'031'296, 34'013'184, 41'254'912, 50'397'440, 54'019'584, 58'787'840};

Training hashed_vgg16() {
  Training training;
  training.algorithm = {{"name", "parameter_server"},
                        {"assignment", "djb2"},
                        {"bucket", "0B"},
                        {"acknowledged", false}};
  training.workload = "vgg16";
  training.cluster = small_cluster(16);
  training.steps = 1;
  return training;
}

TEST(ServerVolumeByTheNumbers, LoadsOfVgg16HashedBySortedNames) {
  constexpr std::uint64_t kModel = 4u * 138'357'544;
  const Trained trained = train(hashed_vgg16());
  ASSERT_EQ(trained.counters.size(), 16u);
  for (std::size_t rank = 0; rank < 16; ++rank)
    EXPECT_EQ(sent_by(trained.counters[rank]).bytes_inter,
              kModel - kVgg16[rank] + 15 * kVgg16[rank])
        << rank;
}

/// The fullest server is busy all the time, and waits for no other: its link carries, each way, its
/// load from 15 workers and its own share of the rest. Where each stage of a partition has its own
/// stream, workers push ahead of what it has answered, and its link inwards is full before the one
/// outwards is.
TEST(ServerVolumeByTheNumbers, TheFullestServersLinkIsTheBottleneck) {
  constexpr double kModel = 4.0 * 138'357'544, kFullest = kVgg16[15], kForward_s = 0.0486;
  Training training = hashed_vgg16();
  const double bound = kForward_s + (kModel + 14 * kFullest) / training.cluster.inter.bandwidth_Bps;
  const double hashed_s = train(training).seconds();
  EXPECT_GT(hashed_s, bound);
  EXPECT_LT(hashed_s, 1.15 * bound);
  training.algorithm["acknowledged"] = true;
  const double acknowledged_s = train(training).seconds();
  EXPECT_GT(acknowledged_s, bound);
  EXPECT_LT(acknowledged_s, 1.25 * bound);
  training.algorithm["assignment"] = "round_robin";
  EXPECT_LT(train(training).seconds(), hashed_s);
}

/// By the numbers: two servers beside six workers, one on each node of four; what serves computes
/// nothing, and each sends its half of the model, and an acknowledgement, to all that work.
TEST(ServerVolumeByTheNumbers, ServersBesideSixWorkers) {
  Training training;
  training.algorithm = {
      {"name", "parameter_server"}, {"servers", 2}, {"placement", "beside"}, {"bucket", "0B"}};
  training.workload = {{"name", "quadratic"}, {"dimension", 1000}, {"tensors", 2}};
  training.cluster = small_cluster(2, 4);
  training.steps = 1;
  const Trained trained = train(training);
  training.steps = 2;
  const Trained longer = train(training);
  const auto step_compute_s = [&](std::size_t rank) {
    return longer.counters.at(rank).compute_s - trained.counters.at(rank).compute_s;
  };
  ASSERT_EQ(trained.buckets, (std::vector<std::size_t>{500, 500}));
  EXPECT_EQ(workers_of(training), (std::vector<int>{0, 1, 2, 4, 5, 6}));
  for (const std::size_t rank : {3u, 7u}) {
    EXPECT_EQ(sent_by(trained.counters.at(rank)), (Sent{3 * 2112, 3 * 2112, 6, 6}));
    EXPECT_NEAR(step_compute_s(rank), 0, 1e-12);
  }
  for (const std::size_t rank : {0u, 1u, 2u, 4u, 5u, 6u}) {
    EXPECT_EQ(sent_by(trained.counters.at(rank)), (Sent{2120, 2120, 2, 2}));
    EXPECT_GT(step_compute_s(rank), 1e-9);
  }
}

/// A server's link carries, each way, the partitions of P-1 workers in its charge and its own share
/// of the others: (P-2+k)/k models. The step takes little longer, however many servers there are.
TEST(ServerVolumeByTheNumbers, TheServersLinksAreTheBottleneck) {
  constexpr double kRanks = 8, kModel = 4.0 * 334'094'338;
  Training training;
  training.workload = "bert_large";
  training.cluster = small_cluster(8, 1);
  training.steps = 1;
  for (const int servers : {1, 2, 4, 8}) {
    training.algorithm = {{"name", "parameter_server"}, {"servers", servers}};
    const double bound =
        (kRanks - 2 + servers) / servers * kModel / training.cluster.inter.bandwidth_Bps;
    const double seconds = train(training).seconds();
    EXPECT_GT(seconds, bound) << servers;
    EXPECT_LT(seconds, 1.15 * bound) << servers;
  }
}

}  // namespace
}  // namespace trigram::test
