#include "experiments/results/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>

namespace trigram {
namespace {

/// The value of the first line of `path` that starts with `key`, after `separator`.
std::string look_up(const char* path, const std::string& key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t at = line.find(separator);
    if (!line.starts_with(key) || at == std::string::npos) continue;
    std::string value = line.substr(at + 1);
    value.erase(0, value.find_first_not_of(" \t\""));
    while (!value.empty() && (value.back() == '"' || value.back() == ' ')) value.pop_back();
    return value;
  }
  return "unknown";
}

}  // namespace

std::string host_name() {
  utsname system{};
  uname(&system);
  return system.nodename;
}

Json describe_machine(int cores) {
  utsname system{};
  uname(&system);
  const auto memory = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return {{"host", system.nodename},
          {"cpu", look_up("/proc/cpuinfo", "model name", ':')},
          {"cores", cores},
          {"memory", memory},
          {"os", look_up("/etc/os-release", "PRETTY_NAME", '=') + ", " + system.sysname + " " +
                     system.release}};
}

}  // namespace trigram
