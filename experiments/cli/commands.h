#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace trigram {

struct PlaceOptions;

/// Runs a subcommand after its options have been parsed. Returns an exit code.
using Action = std::function<int()>;

/// Options that precede the subcommand.
struct GlobalOptions {
  bool quiet = false;
};

// Each function adds its subcommand to `app`. Parsing that subcommand sets `action`.
void add_run_command(CLI::App& app, const GlobalOptions& global, Action& action);
void add_advise_command(CLI::App& app, const GlobalOptions& global, Action& action);
void add_bandwidth_command(CLI::App& app, const GlobalOptions& global, Action& action);
void add_tune_command(CLI::App& app, const GlobalOptions& global, Action& action);
void add_emulate_command(CLI::App& app, const GlobalOptions& global, Action& action);
void add_launch_command(CLI::App& app, const GlobalOptions& global, Action& action);
void add_profile_command(CLI::App& app, const GlobalOptions& global, Action& action);
void add_import_command(CLI::App& app, const GlobalOptions& global, Action& action);
void add_replay_command(CLI::App& app, const GlobalOptions& global, Action& action);
void add_compare_worlds_command(CLI::App& app, const GlobalOptions& global, Action& action);
void add_why_command(CLI::App& app, const GlobalOptions& global, Action& action);
void add_status_command(CLI::App& app, const GlobalOptions& global, Action& action);
void add_validate_command(CLI::App& app, const GlobalOptions& global, Action& action);
void add_init_command(CLI::App& app, const GlobalOptions& global, Action& action);
void add_list_command(CLI::App& app, const GlobalOptions& global, Action& action);
void add_show_command(CLI::App& app, const GlobalOptions& global, Action& action);
void add_schema_command(CLI::App& app, const GlobalOptions& global, Action& action);
void add_report_command(CLI::App& app, const GlobalOptions& global, Action& action);
void add_export_command(CLI::App& app, const GlobalOptions& global, Action& action);
void add_serve_command(CLI::App& app, const GlobalOptions& global, Action& action);
void add_doctor_command(CLI::App& app, const GlobalOptions& global, Action& action);
void add_bench_command(CLI::App& app, const GlobalOptions& global, Action& action);
void add_calibrate_command(CLI::App& app, const GlobalOptions& global, Action& action);

/// Adds the options of commands that measure a world without an experiment.
void add_runtime_options(CLI::App& command, PlaceOptions& place);

}  // namespace trigram
