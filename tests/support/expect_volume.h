#pragma once

#include <gtest/gtest.h>

#include "core/codecs/registry.h"
#include "tests/oracles/algorithm_volume.h"
#include "tests/oracles/codec_sizes.h"
#include "tests/oracles/volume.h"
#include "tests/support/training.h"

namespace trigram::test {

/// A function that gives the priced bytes of the code of n elements, from the oracle. `codec` is
/// "name" or {"name": ..., options}.
inline CodeBytes code_bytes(const Json& codec) {
  const Json resolved = resolve_component(codecs(), "codec", codec, "/codec");
  return [name = resolved.at("name").get<std::string>(), resolved](std::uint64_t n) {
    return std::uint64_t{codec_priced_bytes(name, resolved, n)};
  };
}

/// Codecs with different formulas for their priced bytes.
inline std::vector<Json> codecs_of_every_size() {
  return {"minmax_uint8",
          "bf16",
          "sign",
          {{"name", "sign"}, {"scale", "means"}},
          {{"name", "qsgd"}, {"levels", 7}, {"bucket", 100}},
          {{"name", "qsgd"}, {"levels", 7}, {"bucket", 100}, {"coding", "elias"}},
          {{"name", "topk"}, {"density", 0.1}},
          {{"name", "randk"}, {"density", 0.1}, {"unbiased", false}},
          {{"name", "powersgd"}, {"rank", 2}}};
}

struct Nodes {
  int nodes, workers;
};
inline void PrintTo(const Nodes& n, std::ostream* out) { *out << n.nodes << "x" << n.workers; }

/// Three steps of a phantom workload with 1,003 weights in 7 tensors, so that few lengths divide
/// each other.
inline Training training_of(const Json& algorithm, const Nodes& nodes) {
  Training training;
  training.algorithm = algorithm;
  training.workload = {
      {"name", "quadratic"}, {"dimension", 1003}, {"tensors", 7}, {"values", false}};
  training.cluster = small_cluster(nodes.nodes, nodes.workers);
  training.steps = 3;
  return training;
}

inline Buckets buckets_of(const Trained& trained) {
  return {trained.buckets.begin(), trained.buckets.end()};
}

inline Sent sent_by(const Counters& c) {
  return {c.bytes_intra, c.bytes_inter, c.messages_intra, c.messages_inter};
}

/// Fails the test unless every rank sent the volume that the formula gives.
inline void expect_volume(const Trained& trained, const Traffic& expected) {
  ASSERT_EQ(static_cast<int>(trained.counters.size()), expected.layout().ranks());
  for (int rank : all_ranks(expected.layout())) {
    const Sent sent = sent_by(trained.counters[static_cast<std::size_t>(rank)]);
    EXPECT_EQ(sent.bytes_intra, expected.sent_by(rank).bytes_intra) << "rank " << rank;
    EXPECT_EQ(sent.bytes_inter, expected.sent_by(rank).bytes_inter) << "rank " << rank;
    EXPECT_EQ(sent.messages_intra, expected.sent_by(rank).messages_intra) << "rank " << rank;
    EXPECT_EQ(sent.messages_inter, expected.sent_by(rank).messages_inter) << "rank " << rank;
  }
}

/// A test of the volume that algorithms send; the parameter is the layout.
class VolumeTest : public ::testing::TestWithParam<Nodes> {
 protected:
  using Expected = std::function<Traffic(const Buckets&)>;

  Layout layout() const { return Layout(GetParam().nodes, GetParam().workers); }
  /// Trains the phantom workload. Fails unless the ranks sent what `expected` gives for its
  /// buckets.
  void check(const Json& algorithm, const Expected& expected, long steps = 3) const {
    SCOPED_TRACE(algorithm);
    Training training = training_of(algorithm, GetParam());
    training.steps = steps;
    const Trained trained = train(training);
    expect_volume(trained, expected(buckets_of(trained)));
  }
  /// Checks an algorithm that makes `exchange` for every bucket in every step, with different
  /// buckets, flat and hierarchical.
  void check_exchange(Json algorithm, const VolumeOfExchange& exchange) const {
    for (const char* bucket : {"0B", "2kB", "10MiB"})
      for (const bool hierarchical : {false, true}) {
        algorithm.update({{"bucket", bucket}, {"hierarchical", hierarchical}});
        check(algorithm, [&](const Buckets& buckets) {
          return bucket_volume(layout(), buckets, 3, hierarchical, exchange);
        });
      }
  }
};

}  // namespace trigram::test
