// `show network`: prints the properties of a network and draws it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>

#include "experiments/cli/commands.h"
#include "experiments/config/cluster_file.h"
#include "experiments/config/machine_match.h"
#include "experiments/config/plan.h"
#include "experiments/exit_codes.h"
#include "experiments/show/network_drawing.h"
#include "netmodels/cluster_network.h"
#include "netmodels/connection_limits.h"
#include "netmodels/network/network_summary.h"
#include "netmodels/prices.h"

namespace trigram {
namespace {

std::string short_time(double seconds) {
  if (seconds >= 1) return fmt::format("{:.4g} s", seconds);
  return seconds < 1e-3 ? fmt::format("{:.4g} us", 1e6 * seconds)
                        : fmt::format("{:.4g} ms", 1e3 * seconds);
}

void print_summary(const Cluster& cluster, const NetworkSummary& s) {
  const auto print = [](const char* title, const std::string& value) {
    fmt::print("{:20} {}\n", title, value);
  };
  const char* scope = s.sampled ? ", of routes from some of the nodes" : "";
  print("topology", cluster.topology.kind);
  print("workers", std::to_string(s.workers));
  print("nodes", std::to_string(s.nodes));
  print("switches", std::to_string(s.switches));
  print("links", fmt::format("{}, each direction counted", s.links));
  if (s.links > 0) {
    print("narrowest link", short_bandwidth(s.narrowest_Bps));
    print("widest link", short_bandwidth(s.widest_Bps));
    print("bisection bandwidth",
          fmt::format("{}, {}", short_bandwidth(s.bisection.bandwidth_Bps), s.bisection.cut));
  }
  if (cluster.intra.kind == IntraKind::pcie && cluster.nodes > 1)
    print("from worker to NIC",
          cluster.intra.staged()
              ? fmt::format("by port and host bridge, {}, shared with messages inside the node",
                            short_bandwidth(cluster.intra.bridge_bandwidth()))
              : "bypasses the host bridge (GPUDirect)");
  print("diameter", fmt::format("{} links{}", s.diameter, scope));
  print("largest latency", short_time(s.longest_latency_s) + scope);
}

std::string range(const std::string& least, const std::string& most) {
  return least == most ? least : least + " to " + most;
}

/// Prints the long-run bandwidth of one connection and the property that limits it. A message
/// between two workers gets no more bandwidth, however wide the links are.
void print_connections(const Cluster& cluster, const Network& network) {
  const auto line = [&](bool inside, TrafficClass traffic) {
    std::string text;
    for (const ConnectionLimit& limit : connection_limits(cluster, network, traffic)) {
      if (limit.inside != inside) continue;
      const std::string latency =
          range(short_time(limit.least_latency_s), short_time(limit.most_latency_s));
      text += fmt::format("{}{} by {}, latency {}", text.empty() ? "" : "; ",
                          range(short_bandwidth(limit.least_Bps), short_bandwidth(limit.most_Bps)),
                          limit.bottleneck, latency);
    }
    return text;
  };
  const auto print = [](const std::string& title, const std::string& value) {
    if (!value.empty()) fmt::print("{:20} {}\n", title, value);
  };
  print("inside a node", line(true, TrafficClass::point_to_point));
  print("between nodes", line(false, TrafficClass::point_to_point));
  if (cluster.transport.channels > 1)
    print(fmt::format("on {} channels", cluster.transport.channels),
          line(false, TrafficClass::collective));
}

/// Prints prices and power, as far as they are given.
void print_prices(const Cluster& cluster) {
  const auto print = [](const char* title, const std::string& value) {
    fmt::print("{:20} {}\n", title, value);
  };
  if (const double usd = cluster.price_per_node_hour; usd > 0)
    print("price", fmt::format("${:g} per node and hour, ${:g} per hour in all", usd,
                               usd * static_cast<double>(cluster.nodes)));
  if (const auto [least, most] = egress_price_range(cluster); most > 0)
    print("price of traffic", fmt::format("${:g}{} per GB that leaves a {}", least,
                                          most > least ? fmt::format(" to ${:g}", most) : "",
                                          cluster.topology.kind == "wan" ? "region" : "node"));
  if (const Accelerator& a = cluster.accelerator; a.has_power())
    print("power",
          fmt::format("{:g} W idle, {:g} W busy, per accelerator", a.idle_watts, a.busy_watts));
}

/// The warnings of the runs of an experiment. There are none for a preset, nor for an experiment
/// that cannot be planned, because `run` reports that.
std::vector<std::string> plan_warnings(const std::string& name) {
  if (std::error_code ignored; !std::filesystem::exists(name, ignored))
    return {};  // it is a preset
  try {
    return warnings_of(make_plan(name, {}, {.world = {}, .in_this_process = false}));
  } catch (const ConfigError&) {
    return {};
  }
}

Json connections_json(const Cluster& cluster, const Network& network) {
  Json all = Json::array();
  for (const ConnectionLimit& limit :
       connection_limits(cluster, network, TrafficClass::point_to_point))
    all.push_back({{"inside_node", limit.inside},
                   {"bottleneck", limit.bottleneck},
                   {"least_Bps", limit.least_Bps},
                   {"most_Bps", limit.most_Bps},
                   {"least_latency_s", limit.least_latency_s},
                   {"most_latency_s", limit.most_latency_s}});
  return all;
}

Json summary_json(const Cluster& cluster, const Network& network) {
  const NetworkSummary s = summarize(network);
  return {{"topology", cluster.topology.kind},
          {"workers", s.workers},
          {"nodes", s.nodes},
          {"switches", s.switches},
          {"links", s.links},
          {"narrowest_Bps", s.narrowest_Bps},
          {"widest_Bps", s.widest_Bps},
          {"bisection_Bps", s.bisection.bandwidth_Bps},
          {"bisection_cut", s.bisection.cut},
          {"diameter", s.diameter},
          {"longest_latency_s", s.longest_latency_s},
          {"sampled", s.sampled},
          {"connections", connections_json(cluster, network)},
          {"cluster", cluster_fields().dump(cluster)}};
}

int show_network(const std::string& name, const std::string& picture, bool as_json) {
  const ClusterFile file = read_cluster_file(name, "config");
  const Cluster cluster = file.cluster();
  const auto network = make_network(cluster);
  if (!picture.empty()) {
    if (!picture.ends_with(".svg"))
      throw ConfigError("--output", fmt::format("{}: networks are drawn as SVG; expected a name "
                                                "that ends in .svg",
                                                picture));
    std::ofstream out(picture);
    if (!(out << draw(cluster, *network)) || !out.flush())
      throw ConfigError("--output", fmt::format("{} cannot be written", picture));
  }
  if (as_json) {
    Json j = summary_json(cluster, *network);
    j["warnings"] = file.pointer.empty() ? std::vector<std::string>{} : plan_warnings(name);
    fmt::print("{}\n", j.dump(2, ' ', false, Json::error_handler_t::replace));
    return kOk;
  }
  print_summary(cluster, summarize(*network));
  print_connections(cluster, *network);
  fmt::print("{:20} {}\n", "accelerator", text_of(cluster.accelerator));
  print_prices(cluster);
  if (file.pointer.empty()) return kOk;
  for (const std::string& warning : plan_warnings(name)) fmt::print("warning: {}\n", warning);
  return kOk;
}

}  // namespace

void add_show_command(CLI::App& app, const GlobalOptions&, Action& action) {
  CLI::App* command = app.add_subcommand("show", "Print and draw what a configuration describes");
  command->require_subcommand(1);
  CLI::App* network =
      command->add_subcommand("network", "The network: parts, bandwidths, bisection, diameter");
  auto config = std::make_shared<std::string>();
  auto picture = std::make_shared<std::string>();
  network->add_option("config", *config, "Experiment, cluster, or name of a preset")->required();
  network->add_option("-o,--output", *picture, "Draw the network into this SVG file");
  auto as_json = std::make_shared<bool>(false);
  network->add_flag("--json", *as_json, "Print JSON, in base units");
  network->callback(
      [=, &action] { action = [=] { return show_network(*config, *picture, *as_json); }; });
}

}  // namespace trigram
