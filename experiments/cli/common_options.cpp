#include "experiments/cli/common_options.h"

#include <fmt/format.h>

#include "core/config/config_error.h"
#include "core/config/option_type.h"

namespace trigram {

void add_output_option(CLI::App& command, SweepRunner::Options& runner) {
  command.add_option("-o,--output", runner.output, "Folder for results")->capture_default_str();
}

void add_jobs_option(CLI::App& command, SweepRunner::Options& runner) {
  command
      .add_option("-j,--jobs", runner.max_parallel,
                  "Number of concurrent simulations; 0: one per core")
      ->check(CLI::Range(0, 4096));
}

void add_set_option(CLI::App& command, std::vector<std::string>& settings) {
  command.add_option("--set", settings, "Set /json/pointer=value, instead of the file's value")
      ->allow_extra_args(false);
}

CLI::Validator finite_between(double least, double most) {
  const auto error_of = [least, most](const std::string& text) -> std::string {
    double number = 0;
    const bool parsed = CLI::detail::lexical_cast(text, number);
    if (parsed && number >= least && number <= most) return {};
    return fmt::format("expected a number from {} to {}, not {}", least, most, shortened(text));
  };
  return {error_of, fmt::format("in [{} - {}]", least, most)};
}

std::size_t parse_bytes(const std::string& option, const std::string& text) {
  const double bytes = quantity(Dimension::bytes, true).parse(text, option);
  if (bytes < 1) throw ConfigError(option, fmt::format("expected at least 1 B, not {}", text));
  return static_cast<std::size_t>(bytes);
}

void check_sizes(const SizeRange& range, int ranks, std::size_t fewest) {
  const std::size_t least = sizeof(float) * static_cast<std::size_t>(ranks);
  if (range.max_bytes < least)
    throw ConfigError("--max-bytes", fmt::format("expected at least {} B, one f32 element for each "
                                                 "of {} ranks, not {} B",
                                                 least, ranks, range.max_bytes));
  const std::size_t sizes = element_counts(range, static_cast<std::size_t>(ranks)).size();
  if (sizes < fewest)
    throw ConfigError(
        "--max-bytes",
        fmt::format("expected at least {} sizes of whole f32 elements for each of {} ranks; from "
                    "{} B to {} B, by steps of {} x, there is {}",
                    fewest, ranks, range.min_bytes, range.max_bytes, range.factor, sizes));
}

}  // namespace trigram
