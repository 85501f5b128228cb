#include "experiments/process/child_queue.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

namespace trigram {
namespace {

constexpr double kTick_s = 0.1;

/// Ends the process if memory is exhausted. It allocates nothing, so it works in any thread and
/// when called from C code.
[[noreturn]] void end_without_memory() {
  constexpr std::string_view kWhy = "out of memory\n";
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, kWhy.data(), kWhy.size());
  _exit(kOutOfMemory);
}

/// Handler of SIGABRT. Some libraries abort without a message when they run out of memory. This is
/// assumed to be the reason if 64 MiB cannot be mapped any more.
void check_memory(int) {
  constexpr std::size_t kProbeBytes = std::size_t{64} << 20;
  if (mmap(nullptr, kProbeBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
    end_without_memory();
}

/// Sets up a forked child. The child has its own process group, so that Ctrl-C in a terminal
/// reaches only the parent. It is killed when the parent dies. Its output goes to the log.
void become_child(pid_t parent, const std::filesystem::path& log, Signals& signals) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the parent died before the call of prctl
  signals.restore();
  const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0) _exit(1);
  close(fd);
  std::set_new_handler(end_without_memory);
  signal(SIGABRT, check_memory);
}

/// Returns the exit code of `body`, or 1 if it throws.
int exit_code_of(const std::function<int()>& body) {
  try {
    return body();
  } catch (const std::exception& error) {
    fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace

ChildQueue::~ChildQueue() { kill_all(); }

bool ChildQueue::may_start() const {
  if (waiting_.empty() || static_cast<int>(running_.size()) >= parallel_) return false;
  if (running_.empty()) return true;
  return !waiting_.front().exclusive && !running_.begin()->second.exclusive;
}

void ChildQueue::start_next() {
  ChildTask task = std::move(waiting_.front());
  waiting_.pop_front();
  const ChildTask::Started started = task.start();
  fflush(nullptr);  // otherwise the child would also write the content of the parent's buffers
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "cannot fork");
  if (pid == 0) {
    become_child(parent, started.log, signals_);
    const int code = exit_code_of(started.body);
    fflush(nullptr);
    _exit(code);  // runs no destructors, because their objects belong to the parent
  }
  running_.emplace(pid, std::move(task));
}

void ChildQueue::collect_ended() {
  int status = 0;
  for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG)) {
    const auto ended = running_.find(pid);
    if (ended == running_.end()) continue;
    const ChildTask task = std::move(ended->second);
    running_.erase(ended);
    task.ended(status);
  }
}

void ChildQueue::kill_all() {
  for (const auto& [pid, task] : running_) kill(pid, SIGKILL);
  for (const auto& [pid, task] : running_) waitpid(pid, nullptr, 0);
  running_.clear();
}

bool ChildQueue::run(const std::function<void()>& tick) {
  while (!waiting_.empty() || !running_.empty()) {
    while (may_start()) start_next();
    const int signal = signals_.wait(kTick_s);
    if (signal != 0 && signal != SIGCHLD) {
      kill_all();
      return false;
    }
    collect_ended();
    tick();
  }
  return true;
}

}  // namespace trigram
