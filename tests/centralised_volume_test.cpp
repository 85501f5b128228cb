#include <gtest/gtest.h>

#include <numeric>

#include "core/codecs/registry.h"
#include "tests/oracles/algorithm_volume.h"
#include "tests/oracles/codec_sizes.h"
#include "tests/support/expect_volume.h"

// Invariant D for methods that average models, moments or rounded gradients.

namespace trigram::test {
namespace {

class CentralisedVolume : public ::testing::TestWithParam<Nodes> {
 protected:
  Layout layout() const { return Layout(GetParam().nodes, GetParam().workers); }
};

/// The whole model, averaged after steps 2 and 4 of 5.
TEST_P(CentralisedVolume, LocalMethods) {
  for (const char* name : {"local_sgd", "slowmo"})
    for (const char* allreduce : {"ring", "rabenseifner"})
      for (const bool hierarchical : {false, true}) {
        SCOPED_TRACE(testing::Message() << name << " " << allreduce << " " << hierarchical);
        Training training = training_of({{"name", name},
                                         {"sync_every", 2},
                                         {"allreduce", allreduce},
                                         {"hierarchical", hierarchical}},
                                        GetParam());
        training.steps = 5;
        expect_volume(train(training),
                      gradient_allreduce_volume(layout(), {1003}, 2, allreduce, hierarchical));
      }
}

/// What a hierarchy does inside the nodes is at full precision; between ranks, every message of the
/// allreduce has half its bytes.
TEST_P(CentralisedVolume, HalfPrecisionHalvesTheBytesOfAnAllreduce) {
  for (const char* bucket : {"0B", "2kB"}) {
    SCOPED_TRACE(bucket);
    const Trained trained =
        train(training_of({{"name", "half_precision_allreduce"}, {"bucket", bucket}}, GetParam()));
    const Traffic full = gradient_allreduce_volume(layout(), buckets_of(trained), 3, "ring", false);
    for (int rank : all_ranks(layout())) {
      Sent sent = sent_by(trained.counters[static_cast<std::size_t>(rank)]);
      sent.bytes_intra *= 2;
      sent.bytes_inter *= 2;
      EXPECT_EQ(sent, full.of(rank)) << "rank " << rank;
    }
  }
}

/// Two steps of gradients at full precision, three of moments in eight bits.
TEST_P(CentralisedVolume, QAdam) {
  for (const bool hierarchical : {false, true}) {
    SCOPED_TRACE(hierarchical);
    Training training = training_of(
        {{"name", "qadam"}, {"warmup_steps", 2}, {"hierarchical", hierarchical}, {"bucket", "2kB"}},
        GetParam());
    training.steps = 5;
    const Trained trained = train(training);
    const Buckets buckets = buckets_of(trained);
    const Traffic warm = gradient_allreduce_volume(layout(), buckets, 2, "ring", hierarchical);
    const Traffic coded = bytegrad_volume(layout(), buckets, 3, hierarchical);
    for (int rank : all_ranks(layout())) {
      const Sent &a = warm.of(rank), &b = coded.of(rank);
      const Sent both{a.bytes_intra + b.bytes_intra, a.bytes_inter + b.bytes_inter,
                      a.messages_intra + b.messages_intra, a.messages_inter + b.messages_inter};
      EXPECT_EQ(sent_by(trained.counters[static_cast<std::size_t>(rank)]), both) << "rank " << rank;
    }
  }
}

/// Every rank's pairs of value and index go round the ring.
TEST_P(CentralisedVolume, TopKSendsEveryCodeToEverybody) {
  const Trained trained = train(training_of(
      {{"name", "topk"}, {"codec", {{"name", "topk"}, {"density", 0.1}}}, {"bucket", "2kB"}},
      GetParam()));
  const auto P = static_cast<std::uint64_t>(layout().ranks());
  std::uint64_t kept = 0;
  for (const std::uint64_t n : buckets_of(trained)) kept += (n + 9) / 10;
  for (const Counters& counters : trained.counters) {
    const Sent sent = sent_by(counters);
    EXPECT_EQ(sent.bytes_intra + sent.bytes_inter, 3 * (P - 1) * 8 * kept);
    EXPECT_EQ(sent.messages_intra + sent.messages_inter, 3 * (P - 1) * buckets_of(trained).size());
  }
}

/// 1003 elements are a matrix of 32 x 32: its factors are two vectors of 64.
TEST_P(CentralisedVolume, PowerSgdAveragesTwoFactors) {
  for (const char* allreduce : {"ring", "recursive_doubling"}) {
    SCOPED_TRACE(allreduce);
    const Trained trained = train(training_of(
        {{"name", "powersgd"}, {"rank", 2}, {"allreduce", allreduce}, {"bucket", "10MiB"}},
        GetParam()));
    expect_volume(trained, gradient_allreduce_volume(layout(), {64, 64}, 3, allreduce, false));
  }
}

/// Parts of coded gradients to their owners, coded means from the owners round the ring: each rank
/// sends all parts but its own, then all but the next rank's.
TEST_P(CentralisedVolume, CodedScatterReduce) {
  for (const char* name : {"qsgd", "onebit_adam"}) {
    SCOPED_TRACE(name);
    const bool moments = name == std::string("onebit_adam");
    Json algorithm = {{"name", name}, {"bucket", "10MiB"}};
    if (moments) algorithm["warmup_steps"] = 0;
    const Trained trained = train(training_of(algorithm, GetParam()));
    const CodecSpec spec{moments ? "sign" : "qsgd"};
    const Json options =
        find_component(codecs(), "codec", Json(spec.name), "").resolve(spec.options, "");
    const std::uint64_t P = trained.counters.size();
    if (P == 1) continue;
    std::vector<std::uint64_t> part;
    for (std::uint64_t i = 0; i < P; ++i)
      part.push_back(codec_wire_bytes(spec.name, options, 1003 * (i + 1) / P - 1003 * i / P));
    const std::uint64_t all = std::accumulate(part.begin(), part.end(), std::uint64_t{0});
    for (std::uint64_t rank = 0; rank < P; ++rank) {
      const Sent sent = sent_by(trained.counters[rank]);
      EXPECT_EQ(sent.bytes_intra + sent.bytes_inter,
                3 * (2 * all - part[rank] - part[(rank + 1) % P]));
      EXPECT_EQ(sent.messages_intra + sent.messages_inter, 3 * 2 * (P - 1));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, CentralisedVolume,
                         ::testing::Values(Nodes{1, 1}, Nodes{2, 1}, Nodes{3, 1}, Nodes{7, 1},
                                           Nodes{1, 4}, Nodes{2, 3}, Nodes{4, 4}),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace trigram::test
