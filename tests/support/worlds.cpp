#include "tests/support/worlds.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>

#include "core/check.h"
#include "experiments/worlds.h"
#include "runtime/mpi/mpi_runtime.h"
#include "tests/support/in_child.h"
#include "tests/support/share.h"

namespace trigram::test {
namespace {

/// A world with other than its default options.
struct Variant {
  std::string name, world;
  Json options;
};

const std::vector<Variant>& variants() {
  static const std::vector<Variant> all = {
      {"threads_shaped", "threads", {{"shaping", "cluster"}}},
      {"sim_fluid", "sim", {{"fidelity", "fluid"}}},
      {"mpi_synchronous", "mpi", {{"sends", "synchronous"}}},
  };
  return all;
}

/// The variant with this name, or the world with this name and its default options.
Variant variant(const std::string& name) {
  for (const Variant& known : variants())
    if (known.name == name) return known;
  return {name, name, Json::object()};
}

const World& find(const std::string& name) {
  for (const World& world : worlds())
    if (world.name == variant(name).world) return world;
  throw std::invalid_argument("no world is called " + name);
}

/// Creates a world. A world in real time reports a hang after `hang_timeout`; a simulated world
/// reports it at once. The workload has no values, so computation takes exactly the stated time.
std::unique_ptr<Runtime> make(const std::string& name, const Cluster& cluster,
                              const char* hang_timeout) {
  const World& world = find(name);
  Json options = variant(name).options;
  if (!world.simulated) options["watchdog"] = hang_timeout;
  if (world.name == "nccl") options.update({{"ranks_per_gpu", 8}, {"memory", "256 MiB"}});
  const auto phantom = make_workload_factory(
      resolve_workload({{"name", "quadratic"}, {"values", false}}, "", "."), "");
  return world.make(world.resolve(options, ""), cluster, *phantom);
}

/// True if this process hosts all `ranks` ranks, or if it is part of a job of that size.
bool fits(const World& world, int ranks) { return !world.processes || mpi_process().size == ranks; }

/// True if a launcher started this process as one rank; otherwise the process hosts all ranks.
bool launched() { return mpi_unavailable_reason().empty(); }

/// Runs `body`, in a child process if the world needs one.
std::string bytes_from(const World& world, const std::function<std::string()>& body) {
  return world.simulated ? bytes_from_child(body) : body();
}

WorldError classify(const std::function<void()>& launch) {
  try {
    launch();
  } catch (const HangError& e) {
    return {WorldError::hang, e.what()};
  } catch (const InvariantError& e) {
    return {WorldError::invariant, e.what()};
  } catch (const std::out_of_range& e) {
    return {WorldError::out_of_range, e.what()};
  } catch (const std::exception& e) {
    return {WorldError::other, e.what()};
  }
  return {};
}

std::string pack(const std::vector<std::string>& texts) {
  std::string bytes;
  for (const std::string& text : texts) {
    const std::uint64_t length = text.size();
    bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
    bytes.append(text);
  }
  return bytes;
}

std::vector<std::string> unpack(const std::string& bytes) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint64_t length;
    std::memcpy(&length, bytes.data() + at, sizeof length);
    texts.push_back(bytes.substr(at + sizeof length, length));
    at += sizeof length + length;
  }
  return texts;
}

}  // namespace

std::vector<std::string> world_names() {
  std::vector<std::string> names;
  for (const World& world : worlds())
    if (world.processes == launched()) names.push_back(world.name);
  return names;
}

std::vector<std::string> variant_names() {
  std::vector<std::string> names = world_names();
  const auto has = [&](const std::string& world) {
    return std::find(names.begin(), names.end(), world) != names.end();
  };
  for (const Variant& variant : variants())
    if (has(variant.world)) names.push_back(variant.name);
  return names;
}

std::string world_unavailable(const std::string& world, int ranks) {
  const World& where = find(world);
  if (!where.unavailable.empty()) return where.unavailable;
  if (ranks == 0 || fits(where, ranks)) return "";
  return "this job has another number of processes";
}

std::vector<int> rank_counts(const std::vector<int>& counts) {
  return launched() ? std::vector<int>{mpi_process().size} : counts;
}

bool has_native(const std::string& world) { return find(world).native; }

bool is_simulated(const std::string& world) { return find(world).simulated; }

Cluster flat_cluster(int ranks) {
  Cluster cluster;
  cluster.nodes = ranks;
  return cluster;
}

Cluster nodes_of_two(int nodes) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.workers_per_node = 2;
  return cluster;
}

Cluster multi_worker_nodes(int ranks) {
  int workers = 3;
  if (launched())
    for (workers = 2; workers < ranks && ranks % workers != 0;) ++workers;
  Cluster cluster;
  cluster.workers_per_node = launched() ? std::min(workers, ranks) : workers;
  cluster.nodes = launched() ? ranks / static_cast<int>(cluster.workers_per_node) : ranks;
  return cluster;
}

void run_in_world(const std::string& world, const Cluster& cluster, const Task& rank_main) {
  if (const auto reason = world_unavailable(world, cluster.ranks()); !reason.empty())
    GTEST_SKIP() << reason;
  results_in_world(world, cluster, [&](Context ctx) {
    rank_main(ctx);
    return std::string();
  });
}

std::vector<std::string> results_in_world(const std::string& world, const Cluster& cluster,
                                          const std::function<std::string(Context)>& rank_main) {
  const World& where = find(world);
  return unpack(bytes_from(where, [&] {
    std::vector<std::string> results(static_cast<std::size_t>(cluster.ranks()));
    const WorldError error = classify([&] {
      make(world, cluster, "30s")->launch(cluster.layout(), [&](Context ctx) {
        results[static_cast<std::size_t>(ctx.world_rank)] = rank_main(ctx);
        if (where.processes) allgather_texts(ctx, results);
      });
    });
    EXPECT_EQ(error.kind, WorldError::none) << error.text;
    return pack(results);
  }));
}

std::vector<std::vector<float>> vectors_in_world(
    const std::string& world, const Cluster& cluster,
    const std::function<std::vector<float>(Context)>& rank_main) {
  const auto results = results_in_world(world, cluster, [&](Context ctx) {
    const std::vector<float> values = rank_main(ctx);
    return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  });
  std::vector<std::vector<float>> vectors;
  for (const std::string& bytes : results) {
    vectors.emplace_back(bytes.size() / sizeof(float));
    if (!bytes.empty()) std::memcpy(vectors.back().data(), bytes.data(), bytes.size());
  }
  return vectors;
}

WorldError error_in_world(const std::string& world, const Cluster& cluster, const Task& rank_main) {
  const World& where = find(world);
  const std::string bytes = bytes_from(where, [&] {
    const WorldError error =
        classify([&] { make(world, cluster, "300ms")->launch(cluster.layout(), rank_main); });
    return std::string(1, static_cast<char>(error.kind)) + error.text;
  });
  if (bytes.empty()) return {};  // the child has failed, and so has the test
  return {static_cast<WorldError::Kind>(bytes[0]), bytes.substr(1)};
}

void WorldTest::SetUp() {
  const std::string reason = world_unavailable(world(), ranks());
  if (!reason.empty()) GTEST_SKIP() << reason;
}

std::string world_test_name(const ::testing::TestParamInfo<std::tuple<std::string, int>>& info) {
  return std::get<0>(info.param) + "_" + std::to_string(std::get<1>(info.param));
}

void NamedWorldTest::SetUp() {
  const std::string reason = world_unavailable(GetParam());
  if (!reason.empty()) GTEST_SKIP() << reason;
}

std::string named_world_test_name(const ::testing::TestParamInfo<std::string>& info) {
  return info.param;
}

float unique_value(int rank, std::size_t index) {
  return static_cast<float>(rank) * 131072.0f + static_cast<float>(index);
}

Tensor unique_tensor(const Context& ctx, std::size_t numel, int rank) {
  std::vector<float> values(numel);
  for (std::size_t i = 0; i < numel; ++i) values[i] = unique_value(rank, i);
  return tensor_of(ctx, values);
}

Tensor tensor_of(const Context& ctx, const std::vector<float>& values) {
  Tensor x = ctx.device->empty(values.size());
  ctx.device->upload(x, values);
  return x;
}

void expect_unique_values(const Context& ctx, const Tensor& x, int rank) {
  const auto values = ctx.device->download(x);
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(values[i], unique_value(rank, i)) << "element " << i << " of " << values.size();
}

}  // namespace trigram::test
