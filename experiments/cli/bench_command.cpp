#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "core/metering/meter.h"
#include "experiments/bench/bench_table.h"
#include "experiments/bench/measure.h"
#include "experiments/bench/place.h"
#include "experiments/cli/commands.h"
#include "experiments/cli/common_options.h"
#include "experiments/exit_codes.h"
#include "experiments/job/job.h"
#include "experiments/results/cores.h"
#include "experiments/results/machine.h"

namespace trigram {
namespace {

struct BenchOptions {
  PlaceOptions place;
  std::vector<std::string> operations, algorithms;
  std::string min_bytes = "8B", max_bytes = "16MiB", chain = "0B";
  int factor = 4, iterations = 0, warm_up = -1;
  bool no_check = false, json = false;
};

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<std::string> distinct(const std::vector<BenchEntry>& entries,
                                  std::string BenchEntry::*member) {
  std::vector<std::string> names;
  for (const BenchEntry& e : entries)
    if (!contains(names, e.*member)) names.push_back(e.*member);
  return names;
}

/// Throws ConfigError for a name that is not known.
void check_names(const std::string& option, const std::vector<std::string>& chosen,
                 const std::vector<std::string>& known) {
  for (const std::string& name : chosen)
    if (!contains(known, name)) unknown_name(option, option.substr(2), name, known);
}

std::vector<BenchEntry> chosen_entries(const BenchOptions& options, const World& world) {
  std::vector<BenchEntry> all = collective_benches();
  all.insert(all.end(), codec_benches().begin(), codec_benches().end());
  check_names("--operation", options.operations, distinct(all, &BenchEntry::operation));
  check_names("--algorithm", options.algorithms, distinct(all, &BenchEntry::algorithm));
  if (!world.native && contains(options.algorithms, "native"))
    throw ConfigError("--algorithm",
                      fmt::format("the world \"{}\" has no collectives of its own", world.name));
  // Collectives of other libraries run only if the user names them. They do not support every
  // number of ranks, nor worlds whose sends wait for receivers.
  std::vector<BenchEntry> entries;
  for (const BenchEntry& e : all)
    if ((!e.imitates_library || (world.simulated && contains(options.algorithms, e.algorithm))) &&
        (options.operations.empty() ? e.operation != "encode" && e.operation != "decode"
                                    : contains(options.operations, e.operation)) &&
        (options.algorithms.empty() || contains(options.algorithms, e.algorithm)) &&
        (world.native || !e.native))
      entries.push_back(e);
  if (entries.empty())
    throw ConfigError("--algorithm",
                      fmt::format("{} has no algorithm {}", fmt::join(options.operations, ", "),
                                  fmt::join(options.algorithms, ", ")));
  return entries;
}

SizeRange parse_sizes(const BenchOptions& options, bool simulated) {
  SizeRange sizes;
  sizes.min_bytes = parse_bytes("--min-bytes", options.min_bytes);
  sizes.max_bytes = parse_bytes("--max-bytes", options.max_bytes);
  if (sizes.max_bytes < sizes.min_bytes)
    throw ConfigError("--max-bytes", "expected at least --min-bytes");
  sizes.factor = options.factor;
  // One iteration is enough in simulated time, which does not vary.
  sizes.iterations = options.iterations > 0 ? options.iterations : simulated ? 1 : 20;
  sizes.warm_up = options.warm_up >= 0 ? options.warm_up : simulated ? 0 : 5;
  sizes.check = !options.no_check;
  if (options.chain != "0B") sizes.chain_bytes = parse_bytes("--chain", options.chain);
  return sizes;
}

/// The entries to measure, and the world and sizes to measure them with.
struct Bench {
  BenchPlace place;
  std::vector<BenchEntry> entries;
  SizeRange sizes;
};

Bench resolve_bench(const BenchOptions& options, const Json& files) {
  BenchPlace place = find_place(files);
  std::vector<BenchEntry> entries = chosen_entries(options, *place.world);
  const SizeRange sizes = parse_sizes(options, place.world->simulated);
  check_sizes(sizes, place.cluster.ranks(), 1);
  return {std::move(place), std::move(entries), sizes};
}

/// Makes the measurements. On rank 0, calls `report` with each result as soon as it is known.
void run_benches(const Bench& bench, const std::function<void(const Measurement&)>& report) {
  const auto& [place, entries, sizes] = bench;
  const bool simulated = place.world->simulated;
  place.make_runtime()->launch(place.cluster.layout(), [&](const Context& raw) {
    // Operations are metered and priced as in training. Without checks, a simulation needs no
    // values.
    MeterOptions options;
    options.phantom = simulated && !sizes.check;
    const auto meter = instrument(raw, std::move(options));
    measure(meter->context(), entries, sizes, simulated, report);
  });
}

int bench(const BenchOptions& options) {
  std::optional<Bench> resolved;
  const bool job =
      resolve_here_or_in_job([&] { return read_place(options.place); },
                             [&](const Json& files) { resolved = resolve_bench(options, files); });
  const auto& [place, entries, sizes] = *resolved;
  const bool prints = rank_in_job() == 0;
  const int cores = job ? agree_on_cores(watchdog_s(place.runtime)).count : available_cores();
  std::size_t wrong = 0;
  Json rows = Json::array();
  if (prints && !options.json) {
    fmt::print("# world {}, {} ranks; {} time; {} iterations after {}\n", place.world->name,
               place.cluster.ranks(), place.world->simulated ? "simulated" : "wall",
               sizes.iterations, sizes.warm_up);
    fmt::print("{}", bench_header());
  }
  run_benches(*resolved, [&](const Measurement& m) {
    wrong += m.wrong.value_or(0);
    if (options.json) return rows.push_back(bench_json(m));
    fmt::print("{}", bench_row(m));
    std::fflush(stdout);
  });
  if (prints && options.json)
    fmt::print("{}\n", Json{{"schema_version", 1},
                            {"world", place.runtime},
                            {"time_kind", place.world->simulated ? "simulated" : "wall"},
                            {"ranks", place.cluster.ranks()},
                            {"iterations", sizes.iterations},
                            {"warm_up", sizes.warm_up},
                            {"machine", describe_machine(cores)},
                            {"rows", rows}}
                           .dump(2));
  return wrong == 0 ? kOk : kClaimMissed;
}

}  // namespace

void add_runtime_options(CLI::App& command, PlaceOptions& place) {
  command.add_option("--runtime", place.runtime,
                     "World: a name, or an object in JSON; by default mpi in a job, else threads");
  command
      .add_option("--ranks", place.ranks,
                  "Number of ranks, unless a launcher or a cluster determines it")
      ->check(CLI::Range(1, 4096));
}

void add_bench_command(CLI::App& app, const GlobalOptions&, Action& action) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand(
      "bench", "Measure collectives and codecs; prints the columns of nccl-tests");
  command->add_option(
      "operation", options->operations,
      "Operations: allreduce, ..., pingpong, encode, decode; by default all collectives");
  command
      ->add_option("--algorithm", options->algorithms,
                   "Measure only these algorithms (ring, native, ...) or codecs")
      ->allow_extra_args(false);
  add_runtime_options(*command, options->place);
  command->add_option("--cluster", options->place.cluster,
                      "File that describes the cluster, or name of a preset");
  command->add_option("--min-bytes", options->min_bytes, "Smallest size, as in 8B")
      ->capture_default_str();
  command->add_option("--max-bytes", options->max_bytes, "Largest size, as in 16MiB")
      ->capture_default_str();
  command->add_option("--factor", options->factor, "Factor from one size to the next")
      ->check(CLI::Range(2, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("--iters", options->iterations,
                   "Timed iterations; default 20, or 1 in simulated time")
      ->check(CLI::Range(1, 1 << 20));
  command
      ->add_option("--warmup", options->warm_up,
                   "Warm-up iterations before them; default 5, or 0 in simulated time")
      ->check(CLI::Range(0, 1 << 20));
  command
      ->add_option(
          "--chain", options->chain,
          "Size of a message that each rank awaits from the rank before it before a row begins")
      ->capture_default_str();
  command->add_flag("--no-check", options->no_check,
                    "Do not check results; simulated tensors then have no values");
  command->add_flag("--json", options->json, "Print one JSON document");
  command->callback([options, &action] { action = [options] { return bench(*options); }; });
}

}  // namespace trigram
