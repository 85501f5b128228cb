// `import`: makes a profile from a trace of a training step.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <memory>

#include "core/config/config_error.h"
#include "experiments/cli/commands.h"
#include "experiments/exit_codes.h"
#include "experiments/traces/trace_import.h"

namespace trigram {
namespace {

struct ImportOptions {
  std::string trace, output = "profile.csv";
  TraceImportOptions trace_options;
};

void write_profile(const Profile& profile, const std::filesystem::path& path) {
  std::ofstream file(path);
  if (!(file << profile_text(profile, path)) || !file.flush())
    throw ConfigError("--output",
                      fmt::format("{} cannot be written; expected a file in a folder that exists",
                                  path.string()));
}

int import_profile(const ImportOptions& options, bool quiet) {
  const Profile profile = import_trace(options.trace, options.trace_options);
  write_profile(profile, options.output);
  const std::string machine = profile.measured_on.name;
  fmt::print(
      "{}: {} tensors, {} parameters, {} bytes of gradients, forward {:.4g} ms, backward "
      "{:.4g} ms{}\n",
      options.output, profile.tensors.size(), profile.numel(), 4 * profile.numel(),
      1e3 * profile.forward_s(), 1e3 * profile.backward_s(),
      machine.empty() ? "" : " on " + machine);
  if (!quiet)
    for (const std::string& line : profile.assumed)
      fmt::print(stderr, "{}{}\n", line.starts_with("left out: ") ? "" : "assumed: ", line);
  return kOk;
}

}  // namespace

void add_import_command(CLI::App& app, const GlobalOptions& global, Action& action) {
  auto options = std::make_shared<ImportOptions>();
  TraceImportOptions& import_options = options->trace_options;
  CLI::App* command = app.add_subcommand(
      "import", "Make a profile from a trace of torch.profiler or a Chakra execution trace");
  command->add_option("trace", options->trace, "The trace of a training step, in JSON")->required();
  command
      ->add_option("-o,--output", options->output,
                   "The profile to write: JSON if its name ends in .json, CSV otherwise")
      ->capture_default_str();
  command->add_option("--name", import_options.name,
                      "Name of the profile; default: that of the trace");
  command->add_option("--accelerator", import_options.accelerator,
                      "What computed; default: the device that the trace names");
  command
      ->add_option_function<long>(
          "--step", [options](long step) { options->trace_options.step = step; },
          "N of the ProfilerStep#N to import; default: the last whole step")
      ->check(CLI::Range(0L, 1'000'000'000L));
  command
      ->add_option_function<std::size_t>(
          "--batch", [options](std::size_t batch) { options->trace_options.batch = batch; },
          "Samples of the step; default: the first size of the first input")
      ->check(CLI::Range(1UL, 1'000'000'000UL));
  command->callback([options, &global, &action] {
    action = [options, &global] { return import_profile(*options, global.quiet); };
  });
}

}  // namespace trigram
