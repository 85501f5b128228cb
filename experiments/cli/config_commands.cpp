// `validate`, `init` and `schema`: these commands help to write a configuration.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>

#include "core/files.h"
#include "experiments/cli/commands.h"
#include "experiments/cli/common_options.h"
#include "experiments/config/experiment.h"
#include "experiments/config/plan.h"
#include "experiments/exit_codes.h"

namespace trigram {
namespace {

constexpr const char* kStartingConfig =
    R"(// An experiment. Comments are allowed. `trigram validate FILE` checks it, `trigram run FILE` makes it,
// `trigram list` names what there is to choose from, `trigram schema` describes every option.
{
  "$schema": "@SCHEMA@",

  // The results go to results/my_experiment.
  "name": "my_experiment",

  // The world: "sim" for virtual time, "threads" to train for real on this machine.
  "runtime": "sim",

  // Four nodes of four workers: one NIC per node, a fast fabric inside it. Or a path: "cluster.json".
  "cluster": {
    "nodes": 4,
    "workers_per_node": 4,
    "inter": {"bandwidth": "10Gbps", "latency": "50us"},
    "intra": {"bandwidth": "150GB/s", "latency": "5us"}
  },

  // A name alone, or an object with options.
  "algorithm": {"name": "gradient_allreduce", "hierarchical": true},

  // A real model on real images, its messages and computation priced as those of a large one.
  "workload": {"name": "fashion_mnist", "priced_as": "bert_large"},
  "optimizer": {"name": "sgd", "lr": 0.1},

  "steps": 200,
  "eval_every": 100,

  // A list of seeds gives mean and spread.
  "seed": 1,

  // One run for each combination: JSON pointers to lists of values.
  "sweep": {
    "/algorithm/name": ["gradient_allreduce", "bytegrad"],
    "/cluster/inter/bandwidth": ["1Gbps", "10Gbps", "100Gbps"]
  }
}
)";

int validate(const std::vector<std::string>& files, const std::vector<std::string>& settings,
             bool quiet, bool as_json) {
  Json all = Json::array();
  for (const std::string& file : files) {
    const Plan plan = make_plan(file, settings);
    if (as_json) {
      Json runs = Json::array();
      for (const PlannedRun& run : plan.runs)
        runs.push_back({{"id", run.id}, {"sweep", run.coordinates}});
      all.push_back({{"file", file}, {"runs", runs}, {"warnings", warnings_of(plan)}});
      continue;
    }
    for (const std::string& warning : warnings_of(plan)) spdlog::warn("{}", warning);
    if (!quiet)
      fmt::print("{}: ok, {} run{}\n", file, plan.runs.size(), plan.runs.size() == 1 ? "" : "s");
  }
  if (as_json) fmt::print("{}\n", all.dump(2, ' ', false, Json::error_handler_t::replace));
  return kOk;
}

/// The text of a new configuration, with the path of the schema, which editors use.
std::string starting_config() {
  constexpr std::string_view kPlace = "@SCHEMA@";
  std::string text = kStartingConfig;
  return text.replace(text.find(kPlace), kPlace.size(),
                      (data_dir() / "configs" / "schema.json").string());
}

int init(const std::string& file) {
  if (file == "-") {
    fmt::print("{}", starting_config());
    return kOk;
  }
  if (std::error_code ignored; std::filesystem::exists(file, ignored))
    throw ConfigError(file, "exists already; expected a new name");
  std::ofstream out(file);
  if (!(out << starting_config()) || !out.flush())
    throw ConfigError(shortened(file), "cannot be written");
  fmt::print("{}\n", file);
  return kOk;
}

}  // namespace

void add_validate_command(CLI::App& app, const GlobalOptions& global, Action& action) {
  auto files = std::make_shared<std::vector<std::string>>();
  auto settings = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("validate", "Check experiments and their input files");
  command->add_option("config", *files, "The experiments")->required();
  add_set_option(*command, *settings);
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print JSON: the ids of the runs, and warnings");
  command->callback([=, &global, &action] {
    action = [=, &global] { return validate(*files, *settings, global.quiet, *as_json); };
  });
}

void add_init_command(CLI::App& app, const GlobalOptions&, Action& action) {
  auto file = std::make_shared<std::string>("experiment.json");
  CLI::App* command = app.add_subcommand("init", "Write a commented experiment to start from");
  command->add_option("file", *file, "File to write; - for stdout")->capture_default_str();
  command->callback([file, &action] { action = [file] { return init(*file); }; });
}

void add_schema_command(CLI::App& app, const GlobalOptions&, Action& action) {
  CLI::App* command =
      app.add_subcommand("schema", "Print the JSON Schema (draft-07) of experiments");
  command->callback([&action] {
    action = [] {
      fmt::print("{}\n", config_schema().dump(2));
      return kOk;
    };
  });
}

}  // namespace trigram
