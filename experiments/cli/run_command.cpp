#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "experiments/cli/commands.h"
#include "experiments/cli/common_options.h"
#include "experiments/config/settings.h"
#include "experiments/exit_codes.h"
#include "experiments/job/job.h"
#include "experiments/sweep/shard.h"
#include "experiments/sweep/sweep_runner.h"
#include "experiments/text/labels.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;

struct RunOptions {
  std::string config;
  std::vector<std::string> settings;
  Json world;  // null: keep the file's world
  fs::path rank_logs;
  std::string shard;
  std::vector<std::string> only;
  bool dry_run = false, no_table = false, as_json = false;
  SweepRunner::Options runner;
};

/// Prints the plan and the results that it has.
void print_json(const Plan& plan, const SweepRunner& runner, const std::filesystem::path& output) {
  Json runs = Json::array();
  for (const PlannedRun& run : plan.runs) {
    const StoredRun stored = runner.stored(run);
    const Json& manifest = stored.manifest;
    const bool has_manifest = manifest.is_object();
    runs.push_back({{"id", run.id},
                    {"state", to_string(stored.state)},
                    {"path", (output / plan.name / run.id).string()},
                    {"sweep", run.coordinates},
                    {"warnings", run.warnings},
                    {"summary", has_manifest ? manifest.value("summary", Json()) : Json()},
                    {"error", has_manifest ? manifest.value("error", Json()) : Json()}});
  }
  fmt::print("{}\n", Json{{"name", plan.name}, {"runs", runs}}.dump(
                         2, ' ', false, Json::error_handler_t::replace));
}

void print_plan(const Plan& plan, const SweepRunner& runner) {
  for (const PlannedRun& run : plan.runs)
    fmt::print("{}  {:8}  {}\n", run.id, to_string(runner.state(run)), describe(run.coordinates));
}

int run(const RunOptions& options, bool quiet) {
  if (!in_a_job() && !options.rank_logs.empty())
    throw ConfigError("--rank-logs",
                      "expected a job of mpirun or srun; without one, each run's "
                      "log.txt in its results folder is the log of all ranks");
  const auto make = [&options](bool in_job) {
    Plan plan = make_plan(options.config, options.settings, {.world = options.world});
    if (!options.only.empty()) keep_only(plan, options.only);
    if (!options.shard.empty()) keep_shard(plan, parse_shard(options.shard));
    if (in_job) check_for_job(plan);
    if (options.dry_run) return plan;
    check_writable(options.runner.output / plan.name);
    SweepRunner(plan, options.runner, true).check_checkpoints();
    return plan;
  };
  const auto [plan, job] = plan_here_or_in_job(
      make, {options.rank_logs, "finished runs are kept, and the same command continues\n"});
  SweepRunner runner(plan, options.runner, quiet);
  if (rank_in_job() != 0) return options.dry_run || plan.runs.empty() ? kOk : runner.run_in_job();
  if (plan.runs.empty()) {
    if (options.as_json) print_json(plan, runner, options.runner.output);
    else fmt::print("shard {} has no runs: the sweep has fewer runs than shards\n", options.shard);
    return kOk;
  }
  if (!options.as_json &&
      (options.dry_run || options.no_table))  // otherwise, the results have them
    for (const std::string& warning : warnings_of(plan)) spdlog::warn("{}", warning);
  if (options.dry_run) {
    if (options.as_json) print_json(plan, runner, options.runner.output);
    else print_plan(plan, runner);
    return kOk;
  }
  const int code = job ? runner.run_in_job() : runner.run();
  if (options.as_json) print_json(plan, runner, options.runner.output);
  else if (code != kInterrupted && !options.no_table) runner.print_results();
  return code;
}

}  // namespace

void add_run_command(CLI::App& app, const GlobalOptions& global, Action& action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Make the missing runs of an experiment");
  command->add_option("config", options->config, "The experiment")->required();
  add_output_option(*command, options->runner);
  add_jobs_option(*command, options->runner);
  add_set_option(*command, options->settings);
  command
      ->add_option_function<std::string>(
          "--world", [options](const std::string& text) { options->world = parse_value(text); },
          "Run in this world: a name, or {\"name\": ..., options}; options of other worlds in the "
          "file are ignored; the last --world counts")
      ->take_last();  // a script may already give one
  command
      ->add_option_function<std::int64_t>(
          "--ranks-per-gpu",
          [options](std::int64_t ranks) {
            options->settings.push_back(fmt::format("/runtime/ranks_per_gpu={}", ranks));
          },
          "For tests in the world nccl: number of ranks that share each GPU")
      ->check(CLI::Range(1, 64));
  command->add_flag("-n,--dry-run", options->dry_run,
                    "Check the experiment and list its runs, but do not make them");
  command->add_flag("--no-table", options->no_table, "Do not print a table of the results");
  command->add_flag("--json", options->as_json,
                    "Print the results as JSON instead of a table; with --dry-run, the plan");
  command->add_flag("-f,--force", options->runner.force,
                    "Repeat finished runs, too, such as runs of another version");
  command->add_flag("--resume", options->runner.resume,
                    "Continue unfinished runs from their latest checkpoints");
  command
      ->add_option("--resume-from", options->runner.resume_from,
                   "Begin with the latest checkpoint in this folder, ID.checkpoints, of another "
                   "run, which may have another number of workers")
      ->check(CLI::ExistingDirectory);
  command->add_option("--shard", options->shard,
                      "I/N: make only the I-th of N parts of the sweep's runs; I starts at 1");
  command->add_option("--only", options->only, "Make only the runs of the sweep with these ids")
      ->allow_extra_args(false);
  command->add_option("--rank-logs", options->rank_logs,
                      "In a job: folder for the log of each process, rank-R.log");
  command->callback([options, &global, &action] {
    action = [options, &global] { return run(*options, global.quiet); };
  });
}

}  // namespace trigram
