#include "tests/oracles/peer_volume.h"

#include <gtest/gtest.h>

#include "algorithms/registry.h"
#include "tests/support/expect_volume.h"

// Invariant D for methods over peer graphs: every rank sends exactly the bytes and messages that
// formulas predict, which are written independently of the algorithms and the graphs.

namespace trigram::test::peer_volume_test {
namespace {

class PeerVolume : public VolumeTest {
 protected:
  using ExpectedOfGraph =
      std::function<Traffic(const Buckets&, const std::string& graph, bool hierarchical)>;
  /// Checks `algorithm` over each of `graphs` that fits the number of ranks, flat and hierarchical.
  void check_graphs(Json algorithm, const std::vector<std::string>& graphs,
                    const ExpectedOfGraph& expected) const {
    for (const std::string& graph : graphs)
      for (const bool hierarchical : {false, true}) {
        const int ranks = hierarchical ? GetParam().nodes : layout().ranks();
        if (graph == "shift_one" && ranks != 1 && ranks % 2 != 0) continue;
        if (graph == "butterfly" && (ranks & (ranks - 1)) != 0) continue;
        algorithm.update({{"graph", graph}, {"hierarchical", hierarchical}});
        check(algorithm, [&](const Buckets& buckets) {
          EXPECT_EQ(model_size(buckets), 1003u);
          return expected(buckets, graph, hierarchical);
        });
      }
  }
};

TEST_P(PeerVolume, Dpsgd) {
  check_graphs({{"name", "dpsgd"}},
               {"ring", "torus", "grid", "complete", "star", "shift_one", "butterfly"},
               [&](const Buckets& buckets, const std::string& graph, bool hierarchical) {
                 return peer_volume(layout(), buckets, 3, graph, 0, hierarchical);
               });
}

TEST_P(PeerVolume, Sgp) {
  check_graphs({{"name", "sgp"}},
               {"one_peer_exponential", "static_exponential", "n_peer_exponential", "star"},
               [&](const Buckets& buckets, const std::string& graph, bool hierarchical) {
                 return peer_volume(layout(), buckets, 3, graph, 1, hierarchical);
               });
}

/// OSGP sends as much as SGP, but only every `overlap_steps` steps.
TEST_P(PeerVolume, Osgp) {
  for (const char* graph : {"one_peer_exponential", "star"})
    for (const char* bucket : {"10GB", "1kB"})
      for (const int tau : {1, 2, 5}) {
        const Json spec = {
            {"name", "osgp"}, {"graph", graph}, {"bucket", bucket}, {"overlap_steps", tau}};
        check(spec, [&](const Buckets& buckets) {
          return peer_volume_in_buckets(layout(), buckets, (3 + tau - 1) / tau, graph, 1, false);
        });
      }
}

/// Models are averaged after steps 2 and 4 of 5, along the lines of grids that are full or not
/// full.
TEST_P(PeerVolume, Moshpit) {
  for (const std::vector<int>& sides :
       {std::vector<int>{2, 8}, std::vector<int>{3, 2, 3}, std::vector<int>{16}})
    for (const long rounds : {1, 3})
      for (const bool hierarchical : {false, true})
        check(
            {{"name", "moshpit"},
             {"grid", sides},
             {"rounds", rounds},
             {"sync_every", 2},
             {"hierarchical", hierarchical},
             {"bucket", "1kB"}},
            [&](const Buckets& buckets) {
              return moshpit_volume(layout(), buckets, 2, rounds, sides, hierarchical);
            },
            5);
}

/// Gradients are exchanged, bucket by bucket.
TEST_P(PeerVolume, GossipGrad) {
  check_graphs({{"name", "gossipgrad"}, {"bucket", "1kB"}},
               {"ring", "one_peer_exponential", "star"},
               [&](const Buckets& buckets, const std::string& graph, bool hierarchical) {
                 EXPECT_GT(buckets.size(), 1u);
                 return peer_volume_in_buckets(layout(), buckets, 3, graph, 0, hierarchical);
               });
}

TEST_P(PeerVolume, InBuckets) {
  for (const char* name : {"dpsgd", "sgp"})
    check_graphs({{"name", name}, {"bucket", "1kB"}}, {"ring", "torus", "star"},
                 [&](const Buckets& buckets, const std::string& graph, bool hierarchical) {
                   EXPECT_GT(buckets.size(), 1u);
                   return peer_volume_in_buckets(layout(), buckets, 3, graph,
                                                 name == std::string("sgp") ? 1 : 0, hierarchical);
                 });
}

TEST_P(PeerVolume, EncodedModels) {
  for (const char* algorithm : {"dcd_psgd", "choco_sgd", "ecd_psgd", "deepsqueeze"})
    for (const Json& codec : codecs_of_every_size())
      check_graphs({{"name", algorithm}, {"codec", codec}}, {"ring", "torus", "star"},
                   [&](const Buckets& buckets, const std::string& graph, bool hierarchical) {
                     return coded_peer_volume(layout(), buckets, 3, graph, hierarchical,
                                              code_bytes(codec));
                   });
}

/// Two of three steps end with an exchange, in which the code of each bucket is a separate message.
TEST_P(PeerVolume, EncodedBucketsAtIntervals) {
  check_graphs(
      {{"name", "dcd_psgd"}, {"bucket", "1kB"}, {"communication_interval", 2}}, {"ring", "star"},
      [&](const Buckets& buckets, const std::string& graph, bool hierarchical) {
        EXPECT_GT(buckets.size(), 1u);
        Traffic expected(layout());
        for (const std::uint64_t bucket : buckets)
          expected += coded_peer_volume(layout(), {bucket}, 2, graph, hierarchical, coded_bytes);
        return expected;
      });
}

INSTANTIATE_TEST_SUITE_P(Layouts, PeerVolume,
                         ::testing::Values(Nodes{1, 1}, Nodes{2, 1}, Nodes{3, 1}, Nodes{8, 1},
                                           Nodes{1, 4}, Nodes{3, 2}, Nodes{2, 3}, Nodes{4, 4}),
                         ::testing::PrintToStringParamName());

/// If the number of ranks is a power of k + 1, where k is the number of peers, each rank sends one
/// message per peer and step.
TEST(PeerVolumeOfBaseK, IsOneMessagePerPeer) {
  for (const auto& [peers, nodes] : {std::pair{1, 8}, {3, 16}}) {
    const Json graph = {{"name", "base_k"}, {"peers", peers}};
    const Trained trained =
        train(training_of({{"name", "dpsgd"}, {"graph", graph}}, Nodes{nodes, 1}));
    ASSERT_EQ(trained.counters.size(), static_cast<std::size_t>(nodes));
    const auto messages = 3 * static_cast<std::uint64_t>(peers);
    for (const Counters& c : trained.counters)
      EXPECT_EQ(sent_by(c), (Sent{0, messages * 4 * 1003, 0, messages})) << peers;
  }
}

/// Every rank sends one message per step, whatever the random draws. Here every rank has its own
/// node, so the draws do not affect the traffic at all.
TEST(PeerVolumeOfMatchings, IsOneMessagePerRankAndStep) {
  for (const char* graph : {"random_matching", "bipartite"}) {
    const Trained trained = train(training_of({{"name", "dpsgd"}, {"graph", graph}}, Nodes{6, 1}));
    ASSERT_EQ(trained.counters.size(), 6u);
    for (const Counters& c : trained.counters)
      EXPECT_EQ(sent_by(c), (Sent{0, 3 * 4 * 1003, 0, 3})) << graph;
  }
  const Trained gossip = train(training_of({{"name", "gossipgrad"}}, Nodes{6, 1}));
  ASSERT_EQ(gossip.counters.size(), 6u);
  for (const Counters& c : gossip.counters) EXPECT_EQ(sent_by(c), (Sent{0, 3 * 4 * 1003, 0, 3}));
}

/// After steps 2 and 4 of 5 each rank sends its change and its slow weights to its partner.
TEST(NoLoCoVolume, IsTwoModelsPerRound) {
  Training training = training_of({{"name", "noloco"}, {"sync_every", 2}}, Nodes{6, 1});
  training.steps = 5;
  const Trained even = train(training);
  ASSERT_EQ(even.counters.size(), 6u);
  for (const Counters& c : even.counters) EXPECT_EQ(sent_by(c), (Sent{0, 4 * 4 * 1003, 0, 4}));
}

/// Each rank sends its model as one message per round, after every second of 7 steps.
TEST(SwarmVolume, IsOneModelPerRound) {
  for (const char* mode : {"blocking", "non_blocking"}) {
    Training training =
        training_of({{"name", "swarm_sgd"}, {"mode", mode}, {"local_steps", 2}}, Nodes{6, 1});
    training.steps = 7;
    const Trained even = train(training);
    ASSERT_EQ(even.counters.size(), 6u);
    for (const Counters& c : even.counters)
      EXPECT_EQ(sent_by(c), (Sent{0, 3 * 4 * 1003, 0, 3})) << mode;
    training.cluster = small_cluster(5);  // one of these workers has no partner
    std::uint64_t messages = 0;
    for (const Counters& c : train(training).counters) {
      messages += c.messages_inter;
      EXPECT_EQ(c.bytes_inter, c.messages_inter * 4 * 1003) << mode;
    }
    EXPECT_EQ(messages, 3u * 4) << mode;
    // Rounds are four steps apart on average. So there are about 100 rounds, within three standard
    // deviations of a binomial distribution of 400 trials with probability 1/4.
    training.algorithm.update({{"local_steps", 4}, {"interval", "geometric"}});
    training.cluster = small_cluster(2);
    training.steps = 400;
    const Trained drawn = train(training);
    ASSERT_EQ(drawn.counters.size(), 2u);
    EXPECT_NEAR(static_cast<double>(drawn.counters[0].messages_inter), 100, 26) << mode;
    EXPECT_EQ(drawn.counters[0].messages_inter, drawn.counters[1].messages_inter);
  }
}

/// The error message for an algorithm whose graph does not fit the layout; empty if it fits.
std::string refusal(const Json& spec, const Layout& layout) {
  const auto& entry = find_component(algorithms(), "algorithm", spec, "/algorithm");
  try {
    entry.check(resolve_component(algorithms(), "algorithm", spec, "/algorithm"), layout,
                "/algorithm");
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "";
}

TEST(PeerMethods, RefuseLayoutsThatTheirGraphsDoNotFit) {
  const Layout odd(5, 1), pairs(3, 2);
  for (const char* name : {"dpsgd", "sgp"}) {
    const Json shift_one = {{"name", name}, {"graph", "shift_one"}};
    EXPECT_EQ(refusal(shift_one, odd),
              "/algorithm/graph: shift_one cannot serve 5 workers: it pairs them, so their number "
              "must be even");
    EXPECT_EQ(refusal(shift_one, pairs), "");
    const Json in_nodes = {{"name", name}, {"graph", "shift_one"}, {"hierarchical", true}};
    EXPECT_NE(refusal(in_nodes, pairs).find("3 nodes"), std::string::npos);
  }
  const Json dpsgd = {{"name", "dpsgd"}, {"graph", "one_peer_exponential"}};
  EXPECT_NE(refusal(dpsgd, odd).find("directed"), std::string::npos);
  for (const char* name : {"dcd_psgd", "choco_sgd", "ecd_psgd"}) {
    EXPECT_NE(refusal({{"name", name}, {"graph", "static_exponential"}}, odd).find("directed"),
              std::string::npos);
    EXPECT_NE(refusal({{"name", name}, {"graph", "random_matching"}}, odd).find("fixed"),
              std::string::npos);
    EXPECT_EQ(refusal({{"name", name}, {"graph", "grid"}}, odd), "");
  }
  EXPECT_NE(
      refusal({{"name", "deepsqueeze"}, {"graph", "static_exponential"}}, odd).find("directed"),
      std::string::npos);
  EXPECT_EQ(refusal({{"name", "deepsqueeze"}, {"graph", "random_matching"}}, odd), "");
  EXPECT_NE(refusal({{"name", "osgp"}, {"graph", "shift_one"}}, odd).find("even"),
            std::string::npos);
  EXPECT_EQ(refusal({{"name", "moshpit"}, {"grid", {2, 2}}}, odd),
            "/algorithm/grid: 4 places are too few for 5 workers; expected sides whose product is "
            "at least 5");
  EXPECT_EQ(refusal({{"name", "moshpit"}, {"grid", {2, 3}}}, odd), "");
  EXPECT_EQ(refusal({{"name", "moshpit"}, {"grid", {3}}, {"hierarchical", true}}, pairs), "");
  EXPECT_EQ(refusal("moshpit", odd), "");
  const Json cube = {{"name", "gossipgrad"},
                     {"graph", {{"name", "shuffled_exponential"}, {"topology", "cube"}}}};
  EXPECT_NE(refusal(cube, pairs).find("power of two"), std::string::npos);
}

}  // namespace
}  // namespace trigram::test::peer_volume_test
