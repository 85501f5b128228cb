#include "runtime/mpi/this_machine.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace trigram::mpi {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The name of this machine and user in Open MPI's file names.
std::string host_and_user() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  const std::string name = host;
  return fmt::format("{}.{}", name.substr(0, name.find('.')), getuid());
}

std::vector<fs::path> entries(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path());
  return found;
}

/// A process maps its segment only after it has created it, so a new segment may still be unmapped.
bool is_new(const fs::path& file) {
  constexpr std::time_t kUntilMapped_s = 2;
  struct stat seen {};
  return stat(file.c_str(), &seen) != 0 || std::time(nullptr) - seen.st_ctime < kUntilMapped_s;
}

/// Removes from `files` those that a process of this user maps. Processes of other users cannot map
/// the files.
void keep_unmapped(std::vector<fs::path>& files) {
  std::error_code ignored;
  for (const auto& process : fs::directory_iterator("/proc", ignored)) {
    if (files.empty()) return;
    std::ifstream maps(process.path() / "maps");
    for (std::string line; std::getline(maps, line);)
      std::erase_if(files, [&](const fs::path& file) { return line.ends_with(file.string()); });
  }
}

void remove_segments() {
  std::vector<fs::path> segments;
  for (const char* kind : {"vader", "sm"})  // Open MPI 4 and 5
    std::ranges::copy(entries("/dev/shm", fmt::format("{}_segment.{}.", kind, host_and_user())),
                      std::back_inserter(segments));
  std::erase_if(segments, is_new);
  keep_unmapped(segments);
  std::error_code ignored;  // another job may remove them at the same time
  for (const fs::path& segment : segments) fs::remove(segment, ignored);
}

/// Removes the folders of launchers that no longer run. Such a folder is named "pid.PID".
void remove_folders() {
  const std::string prefix = "pid.";
  std::error_code ignored;
  const fs::path folders = fs::temp_directory_path(ignored) / ("ompi." + host_and_user());
  for (const fs::path& folder : entries(folders, prefix)) {
    const auto pid = static_cast<pid_t>(std::atoi(folder.filename().c_str() + prefix.size()));
    if (pid > 0 && kill(pid, 0) != 0 && errno == ESRCH) fs::remove_all(folder, ignored);
  }
}

}  // namespace

void use_no_network_if_all_ranks_are_here() {
  const std::string here = variable("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (!here.empty() && here == variable("OMPI_COMM_WORLD_SIZE"))
    setenv("OMPI_MCA_btl", "self,vader", 0);
}

void remove_leftovers_of_killed_jobs() {
  if (variable("OMPI_COMM_WORLD_LOCAL_RANK") != "0") return;
  remove_segments();
  remove_folders();
}

}  // namespace trigram::mpi
