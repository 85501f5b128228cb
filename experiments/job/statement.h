#pragma once

#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// What a process of a job is about to do, as it says it to the others before it begins.
struct Statement {
  std::string command;            // "bench"; empty where the command line could not be read
  Json options = Json::object();  // resolved, by their names: {"--iters": 3}
  std::string runs = {};          // equal where plans are
  std::string error = {};         // what keeps the process from it
};

/// What all processes of the job, which call it together, have said, by rank. Throws ConfigError on
/// all alike unless all are to do the same command with the same options, or all have the same
/// error, which is then the caller's to throw. Whether runs are the same is left to the caller.
/// `watchdog_s` is how long processes may be apart.
std::vector<Statement> exchange_statements(const Statement& mine, double watchdog_s);

/// What is wrong with these statements of all ranks, as above; throws ConfigError.
void check_statements(const std::vector<Statement>& said);

}  // namespace trigram
