#include "experiments/process/forwarding.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "experiments/process/signals.h"

namespace trigram {

EndedChild run_forwarding_signals(const std::function<void()>& become,
                                  const std::function<void(pid_t child)>& tick) {
  Signals signals;
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "cannot fork");
  if (child == 0) {
    signals.restore();
    become();
    _exit(1);  // `become` has returned: there is no program
  }
  EndedChild ended;
  while (waitpid(child, &ended.wait_status, WNOHANG) != child) {
    const int signal = signals.wait(tick ? 0.1 : 1);
    if (signal == 0 && tick) {
      try {
        tick(child);
      } catch (...) {  // the child must not go on without this process
        kill(child, SIGTERM);
        waitpid(child, &ended.wait_status, 0);
        throw;
      }
    }
    if (signal == 0 || signal == SIGCHLD) continue;
    ended.interrupted = true;
    kill(child, signal);
  }
  return ended;
}

}  // namespace trigram
