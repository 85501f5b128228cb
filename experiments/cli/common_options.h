#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "experiments/bench/measure.h"
#include "experiments/sweep/sweep_runner.h"

// Options that several commands have, and the checks of their values.

namespace trigram {

void add_output_option(CLI::App& command, SweepRunner::Options& runner);
void add_jobs_option(CLI::App& command, SweepRunner::Options& runner);
/// Adds `--set`, which replaces values of the configuration file.
void add_set_option(CLI::App& command, std::vector<std::string>& settings);

/// Checks that an option is a number from `least` to `most`. (CLI::Range would accept NaN.)
CLI::Validator finite_between(double least, double most);

/// Parses the value of an option in whole bytes. Throws ConfigError if it is less than 1 B.
std::size_t parse_bytes(const std::string& option, const std::string& text);

/// Throws ConfigError unless the range has at least `fewest` different sizes for these ranks, and
/// its largest size has at least one element for each rank.
void check_sizes(const SizeRange& range, int ranks, std::size_t fewest);

}  // namespace trigram
