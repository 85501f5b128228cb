#pragma once

#include <string>
#include <vector>

namespace trigram {

/// Cores that this process may run on.
int available_cores();

/// What the ranks of a run have of cores.
struct Cores {
  int here = 1;                 // of this machine: those that any of its ranks may run on
  bool oversubscribed = false;  // some machine has fewer than ranks
};

/// Where all ranks are threads of this process.
Cores cores_of_threads(int ranks);

/// Where every rank is a process: what this one says to the others of its machine and its cores.
std::string cores_statement();
/// From what all ranks have said; `rank` is of this process.
Cores cores_of_processes(const std::vector<std::string>& statements, int rank);

}  // namespace trigram
