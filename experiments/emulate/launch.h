#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/emulate/emulated_network.h"

namespace trigram {

/// How processes are told that they run in an emulated network.
constexpr const char* kEmulationVariable = "TRIGRAM_EMULATED_NETWORK";

/// Starts `command` under mpirun, a process for each worker, in the namespaces of the nodes of a
/// KernelNetwork that has been made for `network`; waits, and returns the ranks' exit code,
/// kRunFailed when something else has ended mpirun. SIGINT, SIGTERM and SIGHUP go to mpirun, and
/// the code is then kInterrupted. `folder` is for files of mpirun's, `options` are given to it
/// before the command.
int launch_job(const EmulatedNetwork& network, const std::filesystem::path& folder,
               const std::vector<std::string>& options, const std::vector<std::string>& command);

}  // namespace trigram
