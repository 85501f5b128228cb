#pragma once

#include <string>
#include <vector>

namespace trigram {

/// Replaces this process by a launcher, a command of the shell such as "mpirun -n 4", which runs
/// this program with `arguments`. The shell splits the launcher into words; the arguments stay as
/// they are. Standard input and output are discarded. The launcher gets its own process group.
[[noreturn]] void become_launcher(const std::string& launcher,
                                  const std::vector<std::string>& arguments);

/// Runs this program with `arguments` under a launcher, a command of the shell such as "mpirun -n
/// 4", and waits until it ends. Its standard output is discarded. Returns its exit code. Forwards
/// SIGINT, SIGTERM and SIGHUP to it, and then returns kInterrupted.
int run_under_launcher(const std::string& launcher, const std::vector<std::string>& arguments);

}  // namespace trigram
