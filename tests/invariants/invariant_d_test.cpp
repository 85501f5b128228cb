#include <gtest/gtest.h>

#include <tuple>

#include "tests/support/expect_volume.h"

// Invariant D: every rank sends exactly the bytes and messages that formulas predict, which are
// written independently of the algorithms.

namespace trigram::test::invariant_d_test {
namespace {

class InvariantD : public VolumeTest {
 protected:
  /// True if the exchanging ranks can form pairs.
  bool can_pair(bool hierarchical) const {
    const Layout l = layout();
    const int exchanging = hierarchical ? static_cast<int>(l.nodes().size()) : l.ranks();
    return exchanging == 1 || exchanging % 2 == 0;
  }
  static constexpr const char* kAllreduces[] = {"ring", "recursive_doubling", "rabenseifner",
                                                "double_tree"};
};

TEST_P(InvariantD, GradientAllreduce) {
  for (const char* allreduce : kAllreduces)
    for (const bool hierarchical : {false, true})
      for (const char* bucket : {"0B", "2kB", "10MiB"})
        check({{"name", "gradient_allreduce"},
               {"allreduce", allreduce},
               {"hierarchical", hierarchical},
               {"bucket", bucket}},
              [&](const Buckets& buckets) {
                EXPECT_EQ(model_size(buckets), 1003u);
                return gradient_allreduce_volume(layout(), buckets, 3, allreduce, hierarchical);
              });
}

/// Chains are used inside nodes, except for tensors that are not longer than a segment.
TEST_P(InvariantD, SegmentsInsideNodes) {
  constexpr std::uint64_t kSegment = 300;  // in bytes
  const auto step = [&](Traffic& traffic, const Members&, std::uint64_t n) {
    const std::uint64_t segments = (4 * n + kSegment - 1) / kSegment;
    EXPECT_GT(segments, 1u);
    for (const Members& node : traffic.layout().nodes())
      for (std::size_t i = 0; i < node.size() && node.size() > 1; ++i) {
        const int from = node[i], to = node[(i + 1) % node.size()];
        // Sums travel from worker to worker, from the second worker around to the first, and the
        // mean then travels from the first to the last.
        if (i > 0) traffic.send(from, to, segments, 4 * n);
        if (i + 1 < node.size()) traffic.send(from, to, segments, 4 * n);
      }
    add_allreduce(traffic, traffic.layout().leaders(), n, "ring");
  };
  check({{"name", "gradient_allreduce"},
         {"hierarchical", true},
         {"bucket", "2kB"},
         {"segment", "300B"}},
        [&](const Buckets& buckets) { return bucket_volume(layout(), buckets, 3, false, step); });
}

TEST_P(InvariantD, ChannelledRings) {
  const auto workers = static_cast<std::size_t>(GetParam().workers);
  const Json rings = {{"name", "ring"}, {"channels", 3}};
  check({{"name", "gradient_allreduce"}, {"allreduce", rings}}, [&](const Buckets& buckets) {
    return bucket_volume(layout(), buckets, 3, false,
                         [&](Traffic& t, const Members& members, auto n) {
                           add_channelled_ring(t, members, n, 3, workers);
                         });
  });
}

TEST_P(InvariantD, ByteGrad) {
  for (const char* phase2 : {"direct", "allgather"})
    for (const bool hierarchical : {false, true})
      for (const char* bucket : {"0B", "2kB", "10MiB"})
        check({{"name", "bytegrad"},
               {"phase2", phase2},
               {"hierarchical", hierarchical},
               {"bucket", bucket}},
              [&](const Buckets& buckets) {
                return bytegrad_volume(layout(), buckets, 3, hierarchical, phase2);
              });
}

TEST_P(InvariantD, Decentralized) {
  for (const char* mode : {"all", "shift_one", "ring"})
    for (const bool hierarchical : {false, true}) {
      if (mode == std::string("shift_one") && !can_pair(hierarchical)) continue;
      check({{"name", "decentralized"}, {"mode", mode}, {"hierarchical", hierarchical}},
            [&](const Buckets& buckets) {
              return decentralized_volume(layout(), buckets, 3, mode, "ring", hierarchical);
            });
    }
}

/// Three of five steps end with an exchange, each with the next partner, and with separate messages
/// for each bucket.
TEST_P(InvariantD, DecentralizedInBucketsAtIntervals) {
  for (const char* mode : {"all", "shift_one", "ring"})
    for (const bool hierarchical : {false, true}) {
      if (mode == std::string("shift_one") && !can_pair(hierarchical)) continue;
      const auto expected = [&](const Buckets& buckets) {
        EXPECT_GT(buckets.size(), 1u);
        Traffic sum(layout());
        for (const std::uint64_t bucket : buckets)
          sum += decentralized_volume(layout(), {bucket}, 3, mode, "ring", hierarchical);
        return sum;
      };
      check({{"name", "decentralized"},
             {"mode", mode},
             {"hierarchical", hierarchical},
             {"bucket", "1kB"},
             {"communication_interval", 2}},
            expected, 5);
    }
}

/// Before each step, buffers travel from rank to rank in pieces of at most 512 KiB. The gradients'
/// traffic is unchanged.
TEST_P(InvariantD, BuffersAreBroadcastFromRank0) {
  const Layout ranks = layout();
  for (const auto& [profile, bytes, pieces] :
       {std::tuple{"tiny_profile", 0u, 0u}, {"buffered_profile", 1'100'000u, 3u}}) {
    Training training = training_of(
        {{"name", "gradient_allreduce"}, {"bucket", "1MB"}, {"broadcast_buffers", true}},
        GetParam());
    training.workload = std::string("profile:") + TRIGRAM_TEST_DATA "/" + profile + ".csv";
    const Trained trained = train(training);
    Traffic expected =
        gradient_allreduce_volume(ranks, buckets_of(trained), training.steps, "ring", false);
    for (long t = 0; t < training.steps; ++t)
      for (int rank = 0; rank + 1 < ranks.ranks(); ++rank)
        expected.send(rank, rank + 1, pieces, bytes);
    expect_volume(trained, expected);
  }
}

TEST_P(InvariantD, AsyncModelAverageBySteps) {
  constexpr long kSteps = 8;  // averages after steps 3, 5 and 7, counted from 0
  for (const char* allreduce : kAllreduces)
    check(
        {{"name", "async_model_average"},
         {"interval_steps", 2},
         {"warmup_steps", 3},
         {"allreduce", allreduce}},
        [&](const Buckets& buckets) {
          return async_model_average_volume(layout(), buckets, 3, 3, allreduce);
        },
        kSteps);
}

TEST_P(InvariantD, AsyncModelAverageByTime) {
  Training training =
      training_of({{"name", "async_model_average"}, {"interval", "50us"}}, GetParam());
  training.steps = 40;
  const Trained trained = train(training);
  const auto P = static_cast<std::uint64_t>(layout().ranks());
  if (P == 1) return;
  const Sent first = sent_by(trained.counters.at(0));
  const std::uint64_t rounds = (first.messages_intra + first.messages_inter) / (2 * (P - 1));
  EXPECT_GT(rounds, 1u);
  expect_volume(trained, async_model_average_volume(layout(), buckets_of(trained), 0,
                                                    static_cast<long>(rounds), "ring"));
}

INSTANTIATE_TEST_SUITE_P(Layouts, InvariantD,
                         ::testing::Values(Nodes{1, 1}, Nodes{2, 1}, Nodes{3, 1}, Nodes{7, 1},
                                           Nodes{8, 1}, Nodes{1, 4}, Nodes{3, 2}, Nodes{2, 3},
                                           Nodes{4, 4}),
                         ::testing::PrintToStringParamName());

/// The model at full size, with buckets of 10 MiB.
TEST(InvariantDAtScale, BertLargeOn16Workers) {
  Training training;
  training.algorithm = {{"name", "bytegrad"}};
  training.workload = "bert_large";
  training.cluster = small_cluster(4, 4);
  training.steps = 1;
  const Trained trained = train(training);
  EXPECT_EQ(trained.model_priced_numel(), 334'094'338u);
  expect_volume(trained, bytegrad_volume(training.cluster.layout(), buckets_of(trained), 1, true));
}

}  // namespace
}  // namespace trigram::test::invariant_d_test
