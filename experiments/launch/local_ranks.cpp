#include "experiments/launch/local_ranks.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

namespace trigram {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The parent of a process; 0 if the process has ended. The process's name, in parentheses, may
/// contain anything, so fields are counted from the last parenthesis.
pid_t parent_of(pid_t process) {
  const std::string stat = content_of(fs::path("/proc") / std::to_string(process) / "stat");
  const auto name_end = stat.rfind(')');
  if (name_end == std::string::npos || name_end + 4 >= stat.size()) return 0;
  pid_t parent = 0;
  std::from_chars(stat.data() + name_end + 4, stat.data() + stat.size(), parent);
  return parent;
}

bool descends_from(pid_t process, pid_t ancestor) {
  for (; process > 1; process = parent_of(process))
    if (process == ancestor) return true;
  return false;
}

/// The rank in an environment: strings that end with zeros.
int rank_in(const std::string& environment) {
  for (const std::string_view name : {"OMPI_COMM_WORLD_RANK=", "SLURM_PROCID="}) {
    const std::string entry = std::string(1, '\0') + std::string(name);
    const auto at = environment.find(entry);
    if (at == std::string::npos) continue;
    int rank = 0;
    std::from_chars(environment.data() + at + entry.size(), environment.data() + environment.size(),
                    rank);
    return rank;
  }
  return 0;
}

}  // namespace

std::map<int, std::vector<pid_t>> local_ranks(pid_t launcher) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  std::map<int, std::vector<pid_t>> ranks;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    pid_t process = 0;
    std::from_chars(name.data(), name.data() + name.size(), process);
    if (process <= 1 || fs::read_symlink(entry.path() / "exe", error) != program) continue;
    if (!descends_from(process, launcher)) continue;
    ranks[rank_in('\0' + content_of(entry.path() / "environ"))].push_back(process);
  }
  return ranks;
}

}  // namespace trigram
