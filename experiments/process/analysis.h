#pragma once

#include <string>
#include <vector>

namespace trigram {

// The Python package trigram_analysis, which reads and compares results. PYTHON names the
// interpreter; by default it is the distribution's Python, for which pandas and matplotlib are
// installed. Code inside somebody's results is never run: the current folder and relative folders
// of PYTHONPATH are left out.

/// Replaces this process by the package with these arguments. Throws ConfigError if the package is
/// not there, and std::runtime_error if the interpreter cannot be started.
[[noreturn]] void become_analysis(const std::vector<std::string>& arguments);

/// The output of a process of the package.
struct AnalysisOutput {
  std::string out, err;
  std::string failure;  // why there is no result; empty if there is one
};

/// Runs the package as a child with `input` as its standard input, and waits for its end. Never
/// throws for a reason that lies in the Python installation.
AnalysisOutput run_analysis(const std::vector<std::string>& arguments, const std::string& input);

}  // namespace trigram
