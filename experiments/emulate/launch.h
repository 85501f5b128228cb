#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/emulate/emulated_network.h"

namespace trigram {

/// Environment variable that tells processes that they run in an emulated network.
constexpr const char* kEmulationVariable = "TRIGRAM_EMULATED_NETWORK";

/// Runs `command` under mpirun, one process per worker, in the node namespaces of a KernelNetwork
/// that exists for `network`. Blocks until mpirun ends. Returns the ranks' exit code, or kRunFailed
/// if something else ended mpirun. Forwards SIGINT, SIGTERM and SIGHUP to mpirun, and then returns
/// kInterrupted. `folder` gets mpirun's files; `options` are further options of mpirun.
int launch_job(const EmulatedNetwork& network, const std::filesystem::path& folder,
               const std::vector<std::string>& options, const std::vector<std::string>& command);

}  // namespace trigram
