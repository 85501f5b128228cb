#pragma once

#include <string>
#include <vector>

namespace trigram {

/// The number of cores that this process may run on.
int available_cores();

/// The cores available to the ranks of a run.
struct Cores {
  int count = 1;  // number of cores of this machine on which at least one of its ranks may run
  bool oversubscribed = false;  // true if a machine has fewer cores than ranks
};

/// The cores of a run whose ranks are all threads of this process.
Cores cores_of_threads(int ranks);

/// This process's machine and cores as text, which the processes of a run exchange.
std::string cores_statement();
/// The cores of a run whose ranks are processes, from the statements of all ranks. `rank` is the
/// rank of this process.
Cores cores_of_processes(const std::vector<std::string>& statements, int rank);

}  // namespace trigram
