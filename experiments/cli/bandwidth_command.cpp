// `bandwidth`: the least bandwidth with which workers compute for a given share of the time.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "experiments/advise/bandwidth_search.h"
#include "experiments/cli/commands.h"
#include "experiments/cli/common_options.h"
#include "experiments/exit_codes.h"
#include "experiments/tables/caveats.h"
#include "experiments/text/labels.h"
#include "experiments/text/text_table.h"

namespace trigram {
namespace {

struct BandwidthOptions {
  BandwidthSearch::Options search;
  std::string from = "100Mbps", to = "1Tbps";
  bool as_json = false;
};

/// A bandwidth of the grid in Gbit/s, with three significant digits.
std::string gigabits(const BandwidthGrid& grid, std::optional<std::size_t> at) {
  return at ? fmt::format("{:.3g}", 8e-9 * grid.at(*at)) : "more";
}

std::string table(const std::vector<BandwidthSearch::Need>& needs,
                  const BandwidthSearch::Options& options) {
  std::vector<std::vector<std::string>> lines = {{"run"}};
  for (const double utilisation : options.utilisations)
    lines[0].push_back(fmt::format("{:g} %", 100 * utilisation));
  std::string notes;
  std::vector<Json> manifests;
  for (const BandwidthSearch::Need& need : needs) {
    const std::string name =
        need.coordinates.empty() ? "the experiment" : describe(need.coordinates);
    lines.push_back({name});
    for (const auto at : need.at)
      lines.back().push_back(need.why_not.empty() ? gigabits(options.grid, at) : "?");
    if (!need.why_not.empty())
      notes += fmt::format("? {}: what it needs is unknown, as it {}\n", name, need.why_not);
    manifests.push_back(need.manifest);
  }
  if (const std::string sentences = notes + caveats(manifests); !sentences.empty())
    notes = "\n" + sentences;
  return fmt::format(
      "Least bandwidth between nodes, in Gbit/s, for a share of the time in which workers compute, "
      "of "
      "{} bandwidths from {:.3g} to {:.3g}:\n\n{}{}",
      options.grid.points, 8e-9 * options.grid.least_Bps, 8e-9 * options.grid.most_Bps,
      aligned(lines, 1), notes);
}

Json json(const std::vector<BandwidthSearch::Need>& needs,
          const BandwidthSearch::Options& options) {
  Json runs = Json::array();
  for (const BandwidthSearch::Need& need : needs) {
    Json found = Json::array();
    for (std::size_t i = 0; i < need.at.size(); ++i) {
      Json one = {{"utilisation", options.utilisations[i]}, {"point", nullptr}, {"bps", nullptr}};
      if (need.at[i] && need.why_not.empty())
        one.update({{"point", *need.at[i]}, {"bps", 8 * options.grid.at(*need.at[i])}});
      found.push_back(one);
    }
    runs.push_back({{"sweep", need.coordinates},
                    {"least", found},
                    {"why_not", need.why_not},
                    {"warnings", need.manifest.value("warnings", Json::array())},
                    {"assumed", need.manifest.value("assumed", Json::array())}});
  }
  return {{"points", options.grid.points}, {"runs", runs}};
}

int find_bandwidths(BandwidthOptions& options, bool quiet) {
  const auto rate = [](const std::string& text, const char* option) {
    return quantity(Dimension::bandwidth, true).parse(text, option);
  };
  BandwidthGrid& grid = options.search.grid;
  grid.least_Bps = rate(options.from, "--from");
  grid.most_Bps = rate(options.to, "--to");
  if (grid.most_Bps <= grid.least_Bps)
    throw ConfigError(
        "--to", fmt::format("expected more than --from, {}, not {}", options.from, options.to));
  std::ranges::sort(options.search.utilisations);
  options.search.quiet = quiet;
  try {
    BandwidthSearch search(options.search);
    const auto needs = search.find();
    if (options.as_json) fmt::print("{}\n", json(needs, options.search).dump(2));
    else fmt::print("{}", table(needs, options.search));
    return kOk;
  } catch (const BandwidthSearch::Stopped& stopped) {
    return stopped.code;
  }
}

}  // namespace

void add_bandwidth_command(CLI::App& app, const GlobalOptions& global, Action& action) {
  auto options = std::make_shared<BandwidthOptions>();
  options->search.grid.points = 50;
  options->search.utilisations = {0.95};
  CLI::App* command = app.add_subcommand(
      "bandwidth", "Find the least bandwidth that lets workers compute for a share of the time");
  command->add_option("config", options->search.config, "The experiment")->required();
  command
      ->add_option("--utilisation", options->search.utilisations,
                   "Shares of the time in which workers compute, such as 0.5,0.95")
      ->delimiter(',')
      ->check(finite_between(1e-6, 1 - 1e-9))
      ->capture_default_str();
  command->add_option("--from", options->from, "Least bandwidth of the grid")
      ->capture_default_str();
  command->add_option("--to", options->to, "Greatest bandwidth of the grid")->capture_default_str();
  command
      ->add_option("--points", options->search.grid.points,
                   "Number of bandwidths in the grid, whose ratios are equal")
      ->check(CLI::Range(2, 100000))
      ->capture_default_str();
  add_output_option(*command, options->search.runner);
  add_jobs_option(*command, options->search.runner);
  add_set_option(*command, options->search.settings);
  command->add_flag("-f,--force", options->search.runner.force, "Repeat finished runs, too");
  command->add_flag("--json", options->as_json, "Print JSON");
  command->callback([options, &global, &action] {
    action = [options, &global] { return find_bandwidths(*options, global.quiet); };
  });
}

}  // namespace trigram
