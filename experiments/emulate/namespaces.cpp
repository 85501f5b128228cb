#include "experiments/emulate/namespaces.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "experiments/emulate/tool.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;
using Identity = std::pair<dev_t, ino_t>;  // device and inode, which identify a namespace

const fs::path kFolder = "/run/netns";  // where iproute2 keeps namespaces
constexpr const char* kPrefix = "trigram-";

/// The identity of the namespace of a file; {0, 0} if the file does not exist.
Identity identity(const fs::path& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

/// The process that owns a namespace; 0 if `trigram emulate` has not created it.
pid_t owner_of(const std::string& name) {
  if (!name.starts_with(kPrefix)) return 0;
  return static_cast<pid_t>(std::strtol(name.c_str() + std::string(kPrefix).size(), nullptr, 10));
}

std::vector<std::string> namespace_names() {
  std::vector<std::string> all;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator(kFolder, gone))
    if (const std::string name = entry.path().filename(); owner_of(name) > 0) all.push_back(name);
  return all;
}

std::vector<pid_t> processes_in(const std::set<Identity>& namespaces) {
  std::vector<pid_t> processes;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc", gone)) {
    const pid_t pid = static_cast<pid_t>(std::atoi(entry.path().filename().c_str()));
    if (pid > 0 && namespaces.contains(identity(entry.path() / "ns" / "net")))
      processes.push_back(pid);
  }
  return processes;
}

/// Sends `signal` to all processes in the namespaces. Returns true once no process is left, or
/// false after some seconds.
bool end_processes(const std::set<Identity>& namespaces, int signal) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::seconds(4);
  for (const pid_t pid : processes_in(namespaces)) kill(pid, signal);
  while (!processes_in(namespaces).empty()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

/// Removes a namespace. It is no error if the namespace is already gone, because a watcher and
/// another command may remove it at the same time.
void remove_namespace(const std::string& name) {
  try {
    run_tool({"ip", "netns", "delete", name});
  } catch (const std::runtime_error&) {
    if (fs::exists(kFolder / name)) throw;
  }
}

}  // namespace

std::string namespace_name(pid_t owner, const std::string& part) {
  return fmt::format("{}{}-{}", kPrefix, owner, part);
}

void add_namespace(const std::string& name) {
  run_tool({"ip", "netns", "add", name});
  run_tool({"ip", "-n", name, "link", "set", "lo", "up"});
}

void remove_namespaces(pid_t owner) {
  std::set<Identity> identities;
  std::vector<std::string> owned;
  for (const std::string& name : namespace_names()) {
    if (owner_of(name) != owner) continue;
    owned.push_back(name);
    if (const Identity found = identity(kFolder / name); found != identity("/proc/self/ns/net"))
      identities.insert(found);
  }
  identities.erase(Identity{});
  if (!identities.empty() && !end_processes(identities, SIGTERM))
    end_processes(identities, SIGKILL);
  for (const std::string& name : owned) remove_namespace(name);
}

int remove_dead_namespaces() {
  std::set<pid_t> dead;
  int count = 0;
  for (const std::string& name : namespace_names()) {
    const pid_t owner = owner_of(name);
    if (kill(owner, 0) == 0 || errno != ESRCH) continue;
    dead.insert(owner);
    ++count;
  }
  for (const pid_t owner : dead) remove_namespaces(owner);
  return count;
}

}  // namespace trigram
