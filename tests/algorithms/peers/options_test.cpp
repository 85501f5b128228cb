#include <gtest/gtest.h>

#include <functional>

#include "algorithms/peers/registry.h"

// The options of peer graphs in configurations.

namespace trigram::test::options_test {
namespace {

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

TEST(PeerGraphOptions, RefuseSizesThatTheGraphCannotServe) {
  const auto refuse = [](const PeerGraphSpec& spec, int size) {
    return error_of([&] {
      require_graph(spec, {}, "dpsgd", {size, "workers"}, "/algorithm/graph");
    });
  };
  EXPECT_EQ(refuse({"shift_one"}, 5),
            "/algorithm/graph: shift_one cannot serve 5 workers: it pairs them, so their number "
            "must be even");
  EXPECT_NE(refuse({"butterfly"}, 6), "no error");
  EXPECT_NE(refuse({"butterfly", {{"group", 8}}}, 4), "no error");
  for (const char* graph : {"ring", "torus", "grid", "complete", "star", "static_exponential",
                            "one_peer_exponential", "random_matching", "bipartite", "base_k"})
    for (int size = 1; size < 12; ++size) EXPECT_EQ(refuse({graph}, size), "no error");
}

TEST(PeerGraphOptions, RefuseGraphsThatTheAlgorithmCannotUse) {
  const auto refuse = [](const PeerGraphSpec& spec, GraphNeeds needs) {
    return error_of([&] { require_graph(spec, needs, "dpsgd", {8, "workers"}, "/graph"); });
  };
  EXPECT_EQ(refuse({"static_exponential"}, {.undirected = true}),
            "/graph: static_exponential is directed, and dpsgd needs a symmetric mixing matrix; "
            "choose an undirected graph, or sgp");
  EXPECT_NE(refuse({"random_matching"}, {.fixed = true}), "no error");
  EXPECT_EQ(refuse({"complete"}, {.bipartite = true}),
            "/graph: complete of 8 workers has an odd cycle, and dpsgd needs a bipartite graph; "
            "choose bipartite, grid, star or a ring of an even number");
  EXPECT_EQ(refuse({"ring"}, {.bipartite = true}), "no error");
  EXPECT_EQ(refuse({"ring"}, {.undirected = true, .fixed = true}), "no error");
}

TEST(PeerGraphOptions, AreParsedStrictly) {
  const auto parse = [](const Json& j) {
    return error_of([&] { peer_graph_kind().parse(j, "/graph"); });
  };
  EXPECT_EQ(parse("torus"), "no error");
  EXPECT_EQ(parse({{"name", "butterfly"}, {"group", 4}}), "no error");
  EXPECT_NE(parse({{"name", "butterfly"}, {"group", 6}}).find("/graph/group: expected a power"),
            std::string::npos);
  EXPECT_NE(parse("rinng").find("ring"), std::string::npos) << "the nearest name";
  EXPECT_NE(parse({{"name", "ring"}, {"group", 4}}), "no error");
  EXPECT_NE(parse({{"name", "n_peer_exponential"}, {"peers", 0}}), "no error");
  EXPECT_EQ(peer_graph_kind().dump({"ring"}), "ring");
  EXPECT_EQ(peer_graph_kind().dump({"butterfly", {{"group", 4}}}),
            (Json{{"name", "butterfly"}, {"group", 4}}));
}

}  // namespace
}  // namespace trigram::test::options_test
