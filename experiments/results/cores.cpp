#include "experiments/results/cores.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "core/config/option_type.h"
#include "experiments/results/machine.h"

namespace trigram {
namespace {

std::set<int> allowed_cores() {
  std::set<int> cores;
  cpu_set_t set;
  const bool known = sched_getaffinity(0, sizeof set, &set) == 0;
  const int count = known ? CPU_SETSIZE : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  for (int core = 0; core < count; ++core)
    if (!known || CPU_ISSET(core, &set)) cores.insert(core);
  if (cores.empty()) cores.insert(0);
  return cores;
}

/// Identifies a machine by the kernel's boot id if possible, because containers and emulated nodes
/// on the same machine have different host names.
std::string machine_id() {
  std::string id;
  if (std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), id)) return id;
  return host_name();
}

}  // namespace

int available_cores() { return static_cast<int>(allowed_cores().size()); }

Cores cores_of_threads(int ranks) {
  const int cores = available_cores();
  return {cores, ranks > cores};
}

std::string cores_statement() {
  return Json{{"machine", machine_id()}, {"cores", allowed_cores()}}.dump();
}

Cores cores_of_processes(const std::vector<std::string>& statements, int rank) {
  struct Machine {
    std::size_t ranks = 0;
    std::set<int> cores;
  };
  std::map<std::string, Machine> machines;
  std::string own_machine;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const Json statement = Json::parse(statements[i]);
    const auto name = statement.at("machine").get<std::string>();
    if (i == static_cast<std::size_t>(rank)) own_machine = name;
    Machine& machine = machines[name];
    ++machine.ranks;
    machine.cores.merge(statement.at("cores").get<std::set<int>>());
  }
  return {static_cast<int>(machines.at(own_machine).cores.size()),
          std::ranges::any_of(machines, [](const auto& entry) {
            return entry.second.ranks > entry.second.cores.size();
          })};
}

}  // namespace trigram
