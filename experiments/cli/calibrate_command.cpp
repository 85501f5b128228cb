#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>

#include "core/logging/rank_log.h"
#include "experiments/bench/place.h"
#include "experiments/calibrate/calibration_table.h"
#include "experiments/cli/commands.h"
#include "experiments/cli/common_options.h"
#include "experiments/config/inputs.h"
#include "experiments/exit_codes.h"
#include "experiments/job/job.h"
#include "experiments/results/cores.h"
#include "experiments/results/durable.h"
#include "experiments/results/machine.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;

struct CalibrateOptions {
  PlaceOptions place;
  std::string output, workload;
  std::string min_bytes = "1KiB", max_bytes = "16MiB";
  int iterations = 30;
  double quantile = 0.5;
};

/// The resolved workload; null if the option is empty.
Json resolved_workload(const std::string& text) {
  if (text.empty()) return {};
  return resolve_workload(parse_component(text, "--workload"), "--workload", ".");
}

std::shared_ptr<const WorkloadFactory> make_workload(const Json& resolved, int ranks) {
  if (resolved.is_null()) return nullptr;
  std::shared_ptr<const WorkloadFactory> workload = make_workload_factory(resolved, "--workload");
  if (!workload->has_values())
    throw ConfigError(
        "--workload",
        "has no values to compute with; expected a workload with values, such as fashion_mnist");
  workload->check_ranks(ranks);
  return workload;
}

CalibrationOptions calibration_options(const CalibrateOptions& options, int ranks,
                                       const Json& workload) {
  CalibrationOptions c;
  c.sizes.min_bytes = parse_bytes("--min-bytes", options.min_bytes);
  c.sizes.max_bytes = parse_bytes("--max-bytes", options.max_bytes);
  c.sizes.iterations = options.iterations;
  c.sizes.quantile = options.quantile;
  if (c.sizes.max_bytes < c.sizes.min_bytes * static_cast<std::size_t>(c.sizes.factor))
    throw ConfigError("--max-bytes",
                      fmt::format("expected at least {} x --min-bytes", c.sizes.factor));
  constexpr std::size_t kSizesOfALine = 2;
  check_sizes(c.sizes, ranks, kSizesOfALine);
  c.workload = make_workload(workload, ranks);
  return c;
}

/// Throws before the measurements, rather than after them, if the output cannot be written.
void check_description_writable(const std::string& path) {
  if (path.empty() || rank_in_job() != 0) return;
  std::error_code ignored;
  const bool existed = fs::exists(path, ignored);
  if (!std::ofstream(path, std::ios::app))
    throw ConfigError("--output",
                      fmt::format("expected a file that can be written, not {}", shortened(path)));
  if (!existed) fs::remove(path);
}

/// Writes the file atomically: an existing file keeps its content until the new content is on disk.
/// Terminals and pipes are written directly.
void write_atomically(const fs::path& path, const std::string& text) {
  if (fs::exists(path) && !fs::is_regular_file(path)) {
    std::ofstream file(path);
    if (!(file << text).flush()) throw std::runtime_error(path.string() + " cannot be written");
    return;
  }
  const fs::path temporary = path.string() + ".part";
  write_durably(temporary, text);
  fs::rename(temporary, path);
}

/// Takes part in the calibration as a rank other than 0. Errors of this rank also occur on rank 0,
/// which reports them.
int join_calibration(const BenchPlace& place, const CalibrationOptions& options) {
  try {
    calibrate(*place.make_runtime(), place.cluster.ranks(), options);
    return kOk;
  } catch (const ConfigError&) {
    throw;
  } catch (const std::exception& error) {
    rank_log::print("calibration failed: {}", error.what());
    return kRunFailed;
  }
}

/// The options of the calibration, and the world to calibrate.
struct ResolvedOptions {
  BenchPlace place;
  CalibrationOptions options;
};

/// The inputs that depend on files: the result of read_place, the resolved workload (or null), and
/// the hashes of the workload's input files.
Json read_files(const CalibrateOptions& options) {
  Json files = read_place(options.place);
  const Json workload = resolved_workload(options.workload);
  files["workload"] = workload;
  files["inputs"] = workload.is_null()
                        ? Json::object()
                        : to_json(hash_inputs(*make_workload_factory(workload, "--workload")));
  return files;
}

ResolvedOptions resolve(const CalibrateOptions& options, const Json& files) {
  BenchPlace place = find_place(files);
  if (place.world->simulated)
    throw ConfigError("--runtime",
                      "expected a world in real time; a simulated world cannot be measured");
  check_inputs(files.at("inputs"));
  const CalibrationOptions calibration =
      calibration_options(options, place.cluster.ranks(), files.at("workload"));
  if (place.cluster.workers_per_node > 1 && !options.place.cluster.empty())
    throw ConfigError(
        "--cluster",
        fmt::format("expected nodes of one worker, because every rank counts as a node, not of {}",
                    place.cluster.workers_per_node));
  check_description_writable(options.output);
  return {std::move(place), calibration};
}

int run_calibration(const CalibrateOptions& options) {
  std::optional<ResolvedOptions> resolved;
  resolve_here_or_in_job([&] { return read_files(options); },
                         [&](const Json& files) { resolved = resolve(options, files); });
  const BenchPlace& place = resolved->place;
  const int ranks = place.cluster.ranks();
  if (rank_in_job() != 0) return join_calibration(place, resolved->options);
  const Calibration calibration = calibrate(*place.make_runtime(), ranks, resolved->options);
  fmt::print("# world {}, {} ranks\n{}", place.world->name, ranks, calibration_table(calibration));
  if (options.output.empty()) return kOk;
  const Json machine = describe_machine(available_cores());
  write_atomically(
      options.output,
      description_text(calibration,
                       fmt::format("trigram calibrate: world {}, {} ranks, {}", place.world->name,
                                   ranks, machine.value("cpu", std::string("unknown processor")))));
  fmt::print("\n{}\n", options.output);
  return kOk;
}

}  // namespace

void add_calibrate_command(CLI::App& app, const GlobalOptions&, Action& action) {
  auto options = std::make_shared<CalibrateOptions>();
  CLI::App* command = app.add_subcommand(
      "calibrate", "Measure a world in real time and describe it as a cluster for the simulator");
  add_runtime_options(*command, options->place);
  command->add_option("--cluster", options->place.cluster,
                      "File or preset that describes the network the world emulates, if any");
  command->add_option("-o,--output", options->output, "File to write the description to");
  command->add_option(
      "--workload", options->workload,
      "Workload with values, whose training steps determine the rate of arithmetic");
  command->add_option("--min-bytes", options->min_bytes, "Size of the shortest message")
      ->capture_default_str();
  command
      ->add_option("--max-bytes", options->max_bytes,
                   "Size of the longest message, such as messages of the training")
      ->capture_default_str();
  command
      ->add_option("--iters", options->iterations,
                   "Measurements per value, of which a quantile is used")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command
      ->add_option(
          "--quantile", options->quantile,
          "The quantile: 0.5 is the median; use less on a machine that is shared with other users")
      ->check(finite_between(0, 1))
      ->capture_default_str();
  command->callback(
      [options, &action] { action = [options] { return run_calibration(*options); }; });
}

}  // namespace trigram
