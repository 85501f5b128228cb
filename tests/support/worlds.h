#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "core/context.h"
#include "core/runtime.h"
#include "netmodels/cluster.h"

namespace trigram::test {

/// The worlds in which the conformance suite runs, including those that this build lacks. If a
/// launcher started this process, they are worlds whose ranks are processes; otherwise worlds that
/// host all ranks.
std::vector<std::string> world_names();
/// The same worlds and their variants, which are worlds with other options under other names, such
/// as threads on an emulated network. For the suites about messages, streams and waiting.
std::vector<std::string> variant_names();
/// The reason why a world cannot run here (with `ranks` ranks, if nonzero); empty if it can.
std::string world_unavailable(const std::string& world, int ranks = 0);
/// The numbers of ranks to test here: `counts` or, in a process of a job, the number of processes.
std::vector<int> rank_counts(const std::vector<int>& counts);
/// True if the world has native collectives.
bool has_native(const std::string& world);
/// True if the world's time is simulated, and therefore exact.
bool is_simulated(const std::string& world);

/// `ranks` workers, each on its own node.
Cluster flat_cluster(int ranks);
/// `nodes` nodes of two workers each.
Cluster nodes_of_two(int nodes);
/// `ranks` nodes of three workers each. In a job, `ranks` is the number of processes, and each node
/// has as many workers as the smallest divisor above 1 of that number.
Cluster multi_worker_nodes(int ranks);

/// Calls `rank_main` on every rank in a new world. A simulation runs in a child process, and its
/// failed expectations count in this test. An exception that leaves the world fails the test.
void run_in_world(const std::string& world, const Cluster& cluster, const Task& rank_main);

/// Runs a world in the same way. Returns the results of `rank_main` by rank.
std::vector<std::string> results_in_world(const std::string& world, const Cluster& cluster,
                                          const std::function<std::string(Context)>& rank_main);
/// The same for ranks that return vectors. Returns the vectors by rank, with unchanged bits.
std::vector<std::vector<float>> vectors_in_world(
    const std::string& world, const Cluster& cluster,
    const std::function<std::vector<float>(Context)>& rank_main);

/// The exception that has ended a world.
struct WorldError {
  enum Kind : char { none, hang, invariant, out_of_range, other } kind = none;
  std::string text;
};
/// Calls `rank_main` on every rank and returns the exception of `launch`. Hangs are reported after
/// a fraction of a second.
WorldError error_in_world(const std::string& world, const Cluster& cluster, const Task& rank_main);

/// A test that runs in a world with some number of ranks; both are its parameters.
class WorldTest : public ::testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  void SetUp() override;
  const std::string& world() const { return std::get<0>(GetParam()); }
  int ranks() const { return std::get<1>(GetParam()); }
  bool simulated() const { return is_simulated(world()); }

  void run(const Task& rank_main) { run_in_world(world(), flat_cluster(ranks()), rank_main); }
  WorldError error(const Task& rank_main) {
    return error_in_world(world(), flat_cluster(ranks()), rank_main);
  }
};

/// Parameters of a WorldTest: every world with each of the given numbers of ranks. In a job, the
/// number of its processes replaces these numbers, so that a suite runs in a job of any size.
template <class... Ranks>
auto every_world(Ranks... ranks) {
  return ::testing::Combine(::testing::ValuesIn(world_names()),
                            ::testing::ValuesIn(rank_counts({ranks...})));
}
/// The same parameters for all variants of the worlds.
template <class... Ranks>
auto every_variant(Ranks... ranks) {
  return ::testing::Combine(::testing::ValuesIn(variant_names()),
                            ::testing::ValuesIn(rank_counts({ranks...})));
}
std::string world_test_name(const ::testing::TestParamInfo<std::tuple<std::string, int>>& info);

/// A test whose parameter is the name of the world in which it runs. It is skipped if the world is
/// not available. Instantiate it with `every_named_world` and `named_world_test_name`.
class NamedWorldTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;
};
inline auto every_named_world() { return ::testing::ValuesIn(world_names()); }
std::string named_world_test_name(const ::testing::TestParamInfo<std::string>& info);

/// A value that identifies rank and index. It is exact in f32 for 100 ranks and 131,072 elements.
float unique_value(int rank, std::size_t index);
/// A tensor on the context's device that holds unique_value(rank, 0 .. numel-1).
Tensor unique_tensor(const Context& ctx, std::size_t numel, int rank);
/// A tensor on the context's device that holds `values`.
Tensor tensor_of(const Context& ctx, const std::vector<float>& values);
/// Expects that `x` holds unique_value(rank, 0 .. numel-1).
void expect_unique_values(const Context& ctx, const Tensor& x, int rank);

}  // namespace trigram::test
