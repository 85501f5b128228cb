#include "experiments/emulate/tool.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <system_error>

#include "core/config/config_error.h"

extern char** environ;

namespace trigram {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File temporary_file() {
  File file(std::tmpfile(), std::fclose);
  if (!file) throw std::system_error(errno, std::generic_category(), "a temporary file");
  return file;
}

std::string whole_text(std::FILE* file) {
  std::rewind(file);
  std::string text;
  char buffer[4096];
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, file)) text.append(buffer, n);
  return text;
}

}  // namespace

std::string run_tool(const std::vector<std::string>& command, const std::string& input) {
  const File in = temporary_file(), out = temporary_file();
  std::fputs(input.c_str(), in.get());
  std::rewind(in.get());
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(in.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(out.get()), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(out.get()), STDERR_FILENO);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category(), command[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  std::string text = whole_text(out.get());
  if (status != 0)
    throw std::runtime_error(fmt::format("{} failed: {}{}", fmt::join(command, " "),
                                         text.substr(0, text.find('\n')),
                                         input.empty() ? "" : "; its input: " + input));
  return text;
}

std::string find_tool(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path file = std::filesystem::path(folder) / name;
    if (access(file.c_str(), X_OK) == 0) return file.string();
  }
  return {};
}

void require_tool(const std::string& name, const std::string& package) {
  if (!find_tool(name).empty()) return;
  throw ConfigError(name, fmt::format("no such program in PATH; install {}", package));
}

}  // namespace trigram
