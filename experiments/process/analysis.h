#pragma once

#include <string>
#include <vector>

namespace trigram {

// Calls of the Python package trigram_analysis, which reads and compares results. The environment
// variable PYTHON names the interpreter; by default it is the distribution's Python, for which
// pandas and matplotlib are installed. Modules are not imported from the current folder, nor from
// relative folders in PYTHONPATH, so that code inside a folder of results is never run.

/// The interpreter: that of $PYTHON, else the distribution's, else the first one in PATH.
std::string python_interpreter();

/// Replaces this process by the package, called with these arguments. Throws ConfigError if the
/// package is missing, and std::runtime_error if the interpreter cannot be started.
[[noreturn]] void become_analysis(const std::vector<std::string>& arguments);

/// The output of a process that ran the package.
struct AnalysisOutput {
  std::string out, err;
  std::string failure;  // the reason why there is no result; empty if there is one
};

/// Runs the package in a child process with `input` as its standard input, and waits for its end.
/// Does not throw if Python or the package is missing or fails; `failure` then says why.
AnalysisOutput run_analysis(const std::vector<std::string>& arguments, const std::string& input);

}  // namespace trigram
