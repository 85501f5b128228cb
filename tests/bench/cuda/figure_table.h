#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>

// The table of figures that the benchmarks of GPUs print and scripts/gpu_figures.py reads.

namespace trigram::test {

inline void print_figure_header() {
  fmt::print("{:<62}{:>12}{:>9}{:>8}{:>8}\n", "", "time [us]", "ratio", "target", "");
}

/// Prints the time of an operation, `what`, and its ratio to a bound or an alternative, which
/// should be at least `target`; 0: no target.
inline void print_figure(const std::string& what, double seconds, double ratio, double target) {
  fmt::print("{:<62}{:>12.1f}{:>9.3f}{:>8}{:>8}\n", what, seconds * 1e6, ratio,
             target > 0 ? fmt::format("{:.2f}", target) : "-",
             target == 0       ? "-"
             : ratio >= target ? "holds"
                               : "below");
  std::fflush(stdout);  // keeps the measured lines if a time limit ends the program
}

}  // namespace trigram::test
