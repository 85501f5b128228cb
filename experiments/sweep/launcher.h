#pragma once

#include <string>
#include <vector>

namespace trigram {

/// Runs this program with `arguments` under a launcher, a command of the shell such as "mpirun -n
/// 4", and waits until it ends. Its standard output is discarded. Returns its exit code. Forwards
/// SIGINT, SIGTERM and SIGHUP to it, and then returns kInterrupted.
int run_under_launcher(const std::string& launcher, const std::vector<std::string>& arguments);

}  // namespace trigram
