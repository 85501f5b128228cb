#include "experiments/emulate/watcher.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>

#include "experiments/emulate/namespaces.h"

namespace trigram {
namespace {

void clean(pid_t owner, const std::filesystem::path& folder) noexcept {
  try {
    remove_namespaces(owner);
    std::filesystem::remove_all(folder);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "trigram: cannot clean up: %s; try trigram emulate --clean\n",
                 error.what());
  }
}

[[noreturn]] void watch(int pipe, pid_t owner, const std::filesystem::path& folder) {
  setsid();
  sigset_t all;  // blocked, so that neither a terminal nor a launcher can end the watcher
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  char nothing = 0;
  while (read(pipe, &nothing, 1) < 0 && errno == EINTR) {
  }
  clean(owner, folder);
  _exit(0);
}

}  // namespace

Watcher::Watcher(const std::filesystem::path& folder) : folder_(folder) {
  int ends[2];
  if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "a pipe");
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);  // the other end stays open in tools (see pipe_)
  const pid_t owner = getpid();
  child_ = fork();
  if (child_ < 0) throw std::system_error(errno, std::generic_category(), "cannot fork");
  if (child_ == 0) {
    close(ends[1]);
    watch(ends[0], owner, folder);
  }
  close(ends[0]);
  pipe_ = ends[1];
}

Watcher::~Watcher() {
  close(pipe_);
  int status = 0;
  while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) clean(getpid(), folder_);  // the child was killed before it could clean up
}

}  // namespace trigram
