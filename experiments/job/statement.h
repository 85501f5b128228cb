#pragma once

#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// The command that a process of a job is about to run. Processes exchange statements before they
/// begin.
struct Statement {
  std::string command;            // such as "bench"; empty if the command line could not be parsed
  Json options = Json::object();  // resolved, by name: {"--iters": 3}
  std::string runs = {};          // equal if plans are equal
  std::string error = {};         // why the process cannot begin; empty if it can
};

/// Exchanges statements with all processes of the job and returns them by rank. Collective. Throws
/// the same ConfigError on all processes unless all have the same command with the same options,
/// and the same error or none; the caller must throw a common error, and must check that runs are
/// equal. Processes may arrive up to `watchdog_s` seconds apart.
std::vector<Statement> exchange_statements(const Statement& mine, double watchdog_s);

/// Makes the checks of exchange_statements on the statements of all ranks; throws ConfigError.
void check_statements(const std::vector<Statement>& statements);

}  // namespace trigram
