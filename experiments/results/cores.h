#pragma once

#include <string>
#include <vector>

namespace trigram {

/// The number of cores that this process may run on.
int available_cores();

/// The cores available to the ranks of a run.
struct Cores {
  int here = 1;                 // cores of this machine that at least one of its ranks may run on
  bool oversubscribed = false;  // true if some machine has fewer cores than ranks
};

/// If all ranks are threads of this process.
Cores cores_of_threads(int ranks);

/// If every rank is a process: this process's machine and cores, as text for the other processes.
std::string cores_statement();
/// Evaluates the statements of all ranks; `rank` is the rank of this process.
Cores cores_of_processes(const std::vector<std::string>& statements, int rank);

}  // namespace trigram
