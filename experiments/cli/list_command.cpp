#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <set>

#include "algorithms/peers/registry.h"
#include "algorithms/peers/spectral_gap.h"
#include "algorithms/registry.h"
#include "core/codecs/registry.h"
#include "core/files.h"
#include "core/optimizers/registry.h"
#include "core/workloads/registry.h"
#include "experiments/advise/network_scale.h"
#include "experiments/cli/commands.h"
#include "experiments/config/cluster_file.h"
#include "experiments/exit_codes.h"
#include "experiments/worlds.h"
#include "netmodels/topologies/topology.h"

namespace trigram {
namespace {

Json entry_json(const auto& entry) {
  return {{"name", entry.name}, {"doc", entry.doc}, {"options", entry.schema()}};
}

Json list_of_algorithms() {
  Json list = Json::array();
  for (const AlgorithmEntry& a : algorithms()) {
    Json j = entry_json(a);
    j["trigram"] = to_string(a.trigram);
    if (a.trigram_with_codec) j["trigram_with_codec"] = to_string(*a.trigram_with_codec);
    j["execution_options"] = a.execution_options;
    j["source"] = a.source;
    list.push_back(std::move(j));
  }
  return list;
}

Json list_of_worlds() {
  Json list = Json::array();
  for (const World& w : worlds()) {
    Json j = entry_json(w);
    j["available"] = w.unavailable.empty();
    j["reason"] = w.unavailable.empty() ? Json() : Json(w.unavailable);
    j["time"] = w.simulated ? "simulated" : "wall";
    list.push_back(std::move(j));
  }
  return list;
}

Json entries_as_json(const auto& entries) {
  Json list = Json::array();
  for (const auto& entry : entries) list.push_back(entry_json(entry));
  return list;
}

/// Network models of the simulated world, and topologies.
Json list_of_networks() {
  Json list = Json::array();
  const auto sim = std::ranges::find(worlds(), true, &World::simulated);
  const Json option = sim->schema()["properties"]["network_model"];
  for (const Json& name : option["enum"])
    list.push_back({{"name", name},
                    {"kind", "model"},
                    {"doc", "network model of sim; " + option.value("description", "")}});
  for (const TopologyEntry& topology : topologies())
    list.push_back({{"name", topology.kind},
                    {"kind", "topology"},
                    {"doc", "topology: " + topology.doc},
                    {"options", topology.schema()}});
  return list;
}

/// A cluster in a few words: "16 nodes x 8 workers (V100), 100 Gbps, 25 us between nodes".
std::string in_short(const Cluster& cluster) {
  const std::string& accelerator = cluster.accelerator.name;
  return fmt::format("{} nodes x {} workers{}, {}, {} between nodes{}", cluster.nodes,
                     cluster.workers_per_node, accelerator.empty() ? "" : " (" + accelerator + ")",
                     readable(cluster.inter.bandwidth_Bps, Dimension::bandwidth),
                     readable(cluster.inter.latency_s, Dimension::duration),
                     cluster.topology.kind == "flat" ? "" : ", " + cluster.topology.kind);
}

/// The cluster presets of the program.
Json list_of_clusters() {
  Json list = Json::array();
  const std::filesystem::path presets = data_dir() / "configs" / "clusters";
  std::set<std::filesystem::path> paths;
  if (std::filesystem::is_directory(presets))
    for (const auto& file : std::filesystem::directory_iterator(presets))
      if (file.path().extension() == ".json") paths.insert(file.path());
  for (const auto& path : paths)
    list.push_back({{"name", path.stem().string()},
                    {"doc", in_short(read_cluster_file(path.string(), "").cluster())},
                    {"path", path.string()}});
  return list;
}

Json list_of_codecs() {
  Json list = Json::array();
  for (const CodecEntry& c : codecs()) list.push_back({{"name", c.name}, {"doc", c.doc}});
  return list;
}

/// The number of ranks for which spectral gaps are listed.
constexpr int kRanksOfGap = 16;

/// Every peer graph with its options, and with its spectral gap if the options have their defaults.
Json list_of_graphs() {
  Json list = Json::array();
  for (const PeerGraphEntry& g : peer_graphs()) {
    const auto graph = make_peer_graph({g.name});
    Json j = entry_json(g);
    j["directed"] = graph->directed();
    j["period"] = graph->period(kRanksOfGap);
    j["spectral_gap"] = spectral_gap(*graph, kRanksOfGap);
    list.push_back(std::move(j));
  }
  return list;
}

/// The kinds of components, in the order in which they are printed.
const std::vector<std::pair<std::string, Json (*)()>>& kinds() {
  static const std::vector<std::pair<std::string, Json (*)()>> all = {
      {"algorithms", list_of_algorithms},
      {"codecs", list_of_codecs},
      {"graphs", list_of_graphs},
      {"networks", list_of_networks},
      {"clusters", list_of_clusters},
      {"workloads", [] { return entries_as_json(workloads()); }},
      {"optimizers", [] { return entries_as_json(optimizers()); }},
      {"worlds", list_of_worlds},
  };
  return all;
}

/// The number of steps to which the spectral gap of a graph refers: "the 4 steps of a period".
std::string scope_of_gap(long period) {
  if (period == PeerGraph::kAperiodic) return "one step, in mean square";
  return period == 1 ? "one step" : fmt::format("the {} steps of a period", period);
}

void print_entry(const Json& entry) {
  std::string line =
      fmt::format("  {:24} {}", entry["name"].get<std::string>(), entry.value("doc", ""));
  if (entry.contains("trigram")) {
    const std::string options = entry["execution_options"];
    const bool coded = entry.contains("trigram_with_codec");
    line += fmt::format("\n  {:24} {}{}; execution options: {}; {}", "",
                        entry["trigram"].get<std::string>(), coded ? "; low with a codec" : "",
                        options.empty() ? "none" : options, entry["source"].get<std::string>());
  }
  if (entry.contains("spectral_gap"))
    line +=
        fmt::format("\n  {:24} spectral gap at P = {}: {:.4f} ({})", "", kRanksOfGap,
                    entry["spectral_gap"].get<double>(), scope_of_gap(entry["period"].get<long>()));
  if (entry.contains("available") && !entry["available"])
    line += fmt::format("\n  {:24} not available: {}", "", entry["reason"].get<std::string>());
  fmt::print("{}\n", line);
}

/// Prints one kind, or all kinds if `only` is empty.
int list(const std::string& only, bool as_json) {
  Json chosen = Json::object();
  for (const auto& [kind, entries] : kinds())
    if (only.empty() || only == kind) chosen[kind] = entries();
  if (as_json) {
    fmt::print("{}\n", chosen.dump(2));
    return kOk;
  }
  for (const auto& [kind, entries] : kinds()) {
    if (!chosen.contains(kind)) continue;
    fmt::print("{}\n", kind);
    for (const Json& entry : chosen[kind]) print_entry(entry);
    fmt::print("\n");
  }
  return kOk;
}

}  // namespace

void add_list_command(CLI::App& app, const GlobalOptions&, Action& action) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("list", "Print the names that experiments can choose from");
  auto only = std::make_shared<std::string>();
  std::vector<std::string> names;
  for (const auto& [kind, entries] : kinds()) names.push_back(kind);
  command->add_option("kind", *only, "Print only this kind of entry")
      ->transform([](const std::string& kind) {
        // Options of other commands call a workload that only has times and sizes a profile.
        return kind == "profiles" ? std::string("workloads") : kind;
      })
      ->check(CLI::IsMember(names));
  command->add_flag("--json", *as_json, "Print JSON, with the schema of the options of each entry");
  command->callback(
      [only, as_json, &action] { action = [only, as_json] { return list(*only, *as_json); }; });
}

}  // namespace trigram
