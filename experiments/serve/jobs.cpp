#include "experiments/serve/jobs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <regex>
#include <sstream>
#include <system_error>

#include "core/files.h"
#include "core/printable.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;

/// Turns a forked child into `program`. Calls only functions that are safe after a fork of a
/// process with threads.
[[noreturn]] void execute(const char* program, char* const* words, int output, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);  // the server ignores it
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execv(program, words);
  _exit(127);
}

/// The last bytes of a file, from the beginning of a line on.
std::string end_of(const fs::path& file) {
  constexpr std::streamoff kMost = 32 << 10;
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  const std::streamoff size = in.tellg();
  if (!in || size <= 0) return {};
  in.seekg(std::max<std::streamoff>(0, size - kMost));
  std::stringstream text;
  text << in.rdbuf();
  std::string found = text.str();
  return size > kMost ? found.substr(std::min(found.find('\n') + 1, found.size())) : found;
}

/// A text whose lines cannot control a terminal and are valid UTF-8.
std::string printable_lines(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) result += printable(line) + "\n";
  return result;
}

/// Adds the number of runs from the last line that begins with [DONE/OF], as `trigram run` prints
/// it for each run.
void add_progress(const std::string& text, Json& job) {
  static const std::regex kCounter(R"((?:^|\n)\[(\d{1,9})/(\d{1,9})\])");
  for (std::sregex_iterator found(text.begin(), text.end(), kCounter), end; found != end; ++found) {
    job["done"] = std::stol((*found)[1]);
    job["of"] = std::stol((*found)[2]);
  }
}

}  // namespace

Jobs::~Jobs() {
  for (auto& [id, job] : jobs_)
    if (job.running) kill(job.pid, SIGTERM);
  for (auto& [id, job] : jobs_)
    while (job.running && waitpid(job.pid, nullptr, 0) < 0 && errno == EINTR) continue;
}

fs::path Jobs::log(int id) const { return folder_ / fmt::format("{}.log", id); }

int Jobs::start(const std::vector<std::string>& arguments, const std::string& title,
                const std::string& sweep) {
  const std::lock_guard lock(mutex_);
  if (std::ranges::count_if(jobs_, [](const auto& job) { return job.second.running; }) >=
      kMostRunning)
    throw std::runtime_error(
        fmt::format("{} commands are running; expected fewer, so stop one first", kMostRunning));
  const int id = jobs_.empty() ? 1 : jobs_.rbegin()->first + 1;
  const FileDescriptor output(
      open(log(id).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600));
  if (output.get() < 0) throw std::system_error(errno, std::generic_category(), "log of a command");
  std::vector<std::string> words = {fs::read_symlink("/proc/self/exe").string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) execute(pointers.front(), pointers.data(), output.get(), parent);
  jobs_[id] = {title, sweep, child};
  return id;
}

bool Jobs::stop(int id) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || !found->second.running) return false;
  found->second.stopped = true;
  return kill(found->second.pid, SIGTERM) == 0;
}

void Jobs::note_end(Job& job, int wait_status) const {
  job.running = false;
  job.exit_code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

void Jobs::collect() {
  const std::lock_guard lock(mutex_);
  for (auto& [id, job] : jobs_)
    if (int status = 0; job.running && waitpid(job.pid, &status, WNOHANG) == job.pid)
      note_end(job, status);
}

Json Jobs::describe() {
  const std::lock_guard lock(mutex_);
  Json list = Json::array();
  for (auto it = jobs_.rbegin(); it != jobs_.rend(); ++it) {
    const auto& [id, job] = *it;
    const std::string text = printable_lines(end_of(log(id)));
    Json described = {{"id", id},
                      {"title", printable(job.title)},
                      {"sweep", job.sweep},
                      {"state", job.running   ? "running"
                                : job.stopped ? "stopped"
                                              : "ended"},
                      {"exit_code", job.running ? Json() : Json(job.exit_code)},
                      {"done", nullptr},
                      {"of", nullptr},
                      {"text", text}};
    add_progress(text, described);
    list.push_back(std::move(described));
  }
  return list;
}

}  // namespace trigram
