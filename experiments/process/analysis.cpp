#include "experiments/process/analysis.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>

#include "core/config/config_error.h"
#include "core/files.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;

/// A child's standard stream, kept in memory. Unlike a pipe, it never blocks either process and
/// raises no SIGPIPE.
class MemoryFile {
 public:
  MemoryFile() : file_(memfd_create("trigram", MFD_CLOEXEC)) {
    if (descriptor() < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
  }

  int descriptor() const { return file_.get(); }

  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor(), text.data(), text.size());
      if (written < 0) throw std::system_error(errno, std::generic_category(), "write");
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    lseek(descriptor(), 0, SEEK_SET);
  }

  std::string content() const {
    std::string text(static_cast<std::size_t>(lseek(descriptor(), 0, SEEK_END)), '\0');
    const ssize_t size = pread(descriptor(), text.data(), text.size(), 0);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
  }

 private:
  FileDescriptor file_;
};

/// The PYTHONPATH: `package`, then the absolute folders of the user's PYTHONPATH.
std::string python_path(const fs::path& package) {
  std::string path = fs::absolute(package).string();
  const char* present = std::getenv("PYTHONPATH");
  std::istringstream folders(present ? present : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (folder.starts_with('/')) path += ":" + folder;
  return path;
}

/// The arguments and the environment of a process that runs the package.
class Call {
 public:
  explicit Call(const std::vector<std::string>& arguments) {
    const fs::path package = data_dir() / "analysis";
    if (!fs::exists(package / "trigram_analysis"))
      throw ConfigError(package.string(), "expected the Python package trigram_analysis here");
    words_ = {python_interpreter(), "-P", "-X", "utf8", "-m", "trigram_analysis"};
    words_.insert(words_.end(), arguments.begin(), arguments.end());
    environment_ = {"PYTHONPATH=" + python_path(package)};
    for (char** variable = environ; *variable; ++variable)
      if (!std::string_view(*variable).starts_with("PYTHONPATH="))
        environment_.emplace_back(*variable);
  }

  const std::string& program() const { return words_.front(); }
  std::vector<char*> words() { return pointers(words_); }
  std::vector<char*> environment() { return pointers(environment_); }

 private:
  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> found;
    for (std::string& text : texts) found.push_back(text.data());
    found.push_back(nullptr);
    return found;
  }

  std::vector<std::string> words_, environment_;
};

/// The line of `err` that gives the reason of a failure: the exception after a traceback or the
/// error after argparse's usage, both of which are in the last line; else the first line.
std::string line_with_reason(const std::string& err) {
  if (!err.starts_with("Traceback") && !err.starts_with("usage:"))
    return err.substr(0, err.find('\n'));
  const std::size_t end = err.find_last_not_of('\n');
  const std::size_t begin = err.rfind('\n', end);
  return err.substr(begin + 1, end - begin);
}

/// Says why a process of the package failed, given its wait status and its stderr.
std::string failure_text(const std::string& program, int status, const std::string& err) {
  if (WIFSIGNALED(status))
    return fmt::format("{} was ended by signal {} ({})", program, WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
  const std::string reason = line_with_reason(err);
  return fmt::format("{} failed: {}", program,
                     reason.empty() ? fmt::format("exit code {}", WEXITSTATUS(status)) : reason);
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  return status;
}

}  // namespace

std::string python_interpreter() {
  const char* chosen = std::getenv("PYTHON");
  if (chosen && *chosen) return chosen;
  return access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : "python3";
}

void become_analysis(const std::vector<std::string>& arguments) {
  Call call(arguments);
  execvpe(call.program().c_str(), call.words().data(), call.environment().data());
  throw std::runtime_error(fmt::format("cannot run {}: {}", call.program(), std::strerror(errno)));
}

AnalysisOutput run_analysis(const std::vector<std::string>& arguments, const std::string& input) {
  try {
    Call call(arguments);
    MemoryFile in, out, err;
    in.write(input);
    posix_spawn_file_actions_t streams;
    posix_spawn_file_actions_init(&streams);
    for (const auto& [file, stream] : {std::pair{&in, 0}, {&out, 1}, {&err, 2}})
      posix_spawn_file_actions_adddup2(&streams, file->descriptor(), stream);
    pid_t child = 0;
    // Unlike fork, this calls no handler of MPI and copies no page tables.
    const int error = posix_spawnp(&child, call.program().c_str(), &streams, nullptr,
                                   call.words().data(), call.environment().data());
    posix_spawn_file_actions_destroy(&streams);
    if (error != 0)
      return {"", "", fmt::format("cannot run {}: {}", call.program(), std::strerror(error))};
    const int status = wait_for(child);
    AnalysisOutput output{out.content(), err.content(), ""};
    if (status != 0) output.failure = failure_text(call.program(), status, output.err);
    return output;
  } catch (const std::exception& error) {
    return {"", "", error.what()};
  }
}

}  // namespace trigram
