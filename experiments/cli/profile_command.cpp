// `profile`: measures the layers of a user's PyTorch model.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>

#include "core/config/config_error.h"
#include "experiments/cli/commands.h"
#include "experiments/cli/torch_package.h"

namespace trigram {
namespace {

struct ProfileOptions {
  std::string model, output = "profile.csv", name;
  std::optional<int> threads;
  int repeat = 10, processes = 1;
};

void check_model(const std::string& model) {
  const auto colon = model.rfind(':');
  std::error_code ignored;
  if (colon == std::string::npos || colon + 1 == model.size() ||
      !std::filesystem::is_regular_file(model.substr(0, colon), ignored))
    throw ConfigError("--torch",
                      fmt::format("expected FILE.py:FUNCTION with a file that exists, not \"{}\"",
                                  shortened(model)));
}

/// Replaces this process by Python. The return type is for use in an Action.
int profile(const ProfileOptions& o, bool quiet) {
  check_model(o.model);
  require_torch("--torch", "profile needs PyTorch");
  std::vector<std::string> words = torch_python();
  words.insert(words.end(),
               {"-m", "trigram.profiling", "--output=" + o.output,
                fmt::format("--repeat={}", o.repeat), fmt::format("--processes={}", o.processes)});
  if (o.threads) words.push_back(fmt::format("--threads={}", *o.threads));
  if (quiet) words.push_back("--quiet");
  if (!o.name.empty()) words.push_back("--name=" + o.name);
  words.insert(words.end(), {"--", o.model});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
  throw std::runtime_error(fmt::format("cannot run {}: {}", words.front(), std::strerror(errno)));
}

}  // namespace

void add_profile_command(CLI::App& app, const GlobalOptions& global, Action& action) {
  auto options = std::make_shared<ProfileOptions>();
  CLI::App* command =
      app.add_subcommand("profile", "Measure the layers of a PyTorch model as a profile");
  command
      ->add_option("--torch", options->model,
                   "FILE.py:FUNCTION; the function returns the model, a batch, and perhaps a loss")
      ->required();
  command->add_option("-o,--output", options->output, "The profile to write, as CSV")
      ->capture_default_str();
  command->add_option("--name", options->name,
                      "Name of the profile; default: that of the model's class");
  command
      ->add_option("--threads", options->threads,
                   "Threads of PyTorch, without --processes; default: 1")
      ->check(CLI::Range(1, 1024));
  command->add_option("--repeat", options->repeat, "Passes to measure")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command
      ->add_option(
          "--processes", options->processes,
          "Processes that compute at the same time, on one thread each, as workers on this "
          "machine would")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->callback([options, &global, &action] {
    action = [options, &global] { return profile(*options, global.quiet); };
  });
}

}  // namespace trigram
