// Less bandwidth and more latency of a topology's links never make anything faster.
#include <gtest/gtest.h>

#include <functional>

#include "algorithms/collectives/collectives.h"
#include "tests/support/networks.h"
#include "tests/support/simulate.h"
#include "tests/support/training.h"

namespace trigram::test::topology_knobs_test {
namespace {

constexpr std::size_t kBytes = 1'000'000;

/// A topology, and the changes that make it slower.
struct Knob {
  std::string name;
  Json topology;
  int nodes;
  std::function<void(Json& topology)> slow_down;
};

void PrintTo(const Knob& knob, std::ostream* out) { *out << knob.name; }

void halve(Json& Bps) {
  Bps = MBps(parse_quantity(Bps.get<std::string>(), Dimension::bandwidth) / 2);
}

std::vector<Knob> knobs() {
  const Json dragonfly = {
      {"kind", "dragonfly"},          {"nodes_per_router", 2}, {"routers_per_group", 3},
      {"global_links_per_router", 1}, {"groups", 4},           {"bandwidth", "300MB/s"},
      {"global_bandwidth", "300MB/s"}};
  const Json mesh = {{"kind", "hammingmesh"},
                     {"board", {2, 2}},
                     {"boards", {2, 2}},
                     {"bandwidth", "300MB/s"},
                     {"tree_bandwidth", "300MB/s"}};
  const Json tree = {{"kind", "fat_tree"}, {"k", 4}, {"bandwidth", "300MB/s"}};
  const Json leaves = {{"kind", "fat_tree"}, {"nodes_per_leaf", 4}, {"bandwidth", "300MB/s"}};
  const Json torus = {{"kind", "torus"}, {"dimensions", {4, 3}}, {"bandwidth", "300MB/s"}};
  const auto set = [](const char* key, const Json& value) {
    return [key, value](Json& topology) { topology[key] = value; };
  };
  const auto each = [](const char* matrix, const std::function<void(Json&)>& change) {
    return [matrix, change](Json& topology) {
      for (Json& row : topology[matrix])
        for (Json& entry : row)
          if (!entry.is_null()) change(entry);
    };
  };
  return {
      {"fat_tree_bandwidth", tree, 16, set("bandwidth", "150MB/s")},
      {"fat_tree_latency", tree, 16, set("latency", "1ms")},
      {"leaves_bandwidth", leaves, 16, set("bandwidth", "150MB/s")},
      {"leaves_taper", leaves, 16, set("taper", 4)},
      {"torus_bandwidth", torus, 12, set("bandwidth", "150MB/s")},
      {"torus_latency", torus, 12, set("latency", "1ms")},
      {"dragonfly_bandwidth", dragonfly, 24, set("bandwidth", "100MB/s")},
      {"dragonfly_latency", dragonfly, 24, set("latency", "1ms")},
      {"dragonfly_global_bandwidth", dragonfly, 24, set("global_bandwidth", "150MB/s")},
      {"dragonfly_global_latency", dragonfly, 24, set("global_latency", "1ms")},
      {"hammingmesh_bandwidth", mesh, 16, set("bandwidth", "100MB/s")},
      {"hammingmesh_latency", mesh, 16, set("latency", "1ms")},
      {"hammingmesh_tree_bandwidth", mesh, 16, set("tree_bandwidth", "150MB/s")},
      {"hammingmesh_tree_latency", mesh, 16, set("tree_latency", "1ms")},
      {"wan_bandwidth", wan_options(3, 2), 6, each("bandwidth", halve)},
      {"wan_delay", wan_options(3, 2), 6, each("delay", [](Json& delay) { delay = "200ms"; })},
      {"wan_delay_is", wan_options(3, 2), 6, set("delay_is", "one_way")},
  };
}

class TopologyKnobs : public ::testing::TestWithParam<Knob> {};

/// Runs a ring, a tree, and an all-to-all. Every change affects at least one of them.
TEST_P(TopologyKnobs, NeverMakeAnythingFaster) {
  const auto seconds = [&](const Json& topology, const std::function<double(Context)>& body) {
    return latest_end_s(simulate(cluster_with_topology(topology, GetParam().nodes), body));
  };
  const auto on_vector = [](auto collective) {
    return [collective](const Context& ctx) { return time_on_phantom(ctx, kBytes, collective); };
  };
  Json slower = GetParam().topology;
  GetParam().slow_down(slower);
  const std::vector<std::function<double(Context)>> bodies = {
      on_vector([](Context c, const Tensor& x) { ring_allreduce(c, x, Reduce::sum); }),
      on_vector([](Context c, const Tensor& x) { binomial_broadcast(c, x, 0); }),
      [](const Context& ctx) { return send_to_all(ctx, kBytes); }};
  double before_s = 0, after_s = 0;
  for (const auto& body : bodies) {
    const double before = seconds(GetParam().topology, body), after = seconds(slower, body);
    EXPECT_GE(after, (1 - 1e-9) * before);  // allows for rounding
    before_s += before;
    after_s += after;
  }
  EXPECT_GT(after_s, before_s);
}

INSTANTIATE_TEST_SUITE_P(All, TopologyKnobs, ::testing::ValuesIn(knobs()), TestName{});

}  // namespace
}  // namespace trigram::test::topology_knobs_test
