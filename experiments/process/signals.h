#pragma once

#include <signal.h>

namespace trigram {

/// While this object exists, the signals that a parent process reacts to (SIGCHLD, SIGINT, SIGTERM
/// and SIGHUP) are blocked, so that `wait` receives them: none is lost, and no handler runs.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// The next signal, or 0 after `timeout_s` without one.
  int wait(double timeout_s);
  /// Restores the earlier signal mask. Call it in a forked child.
  void restore();

 private:
  sigset_t waited_, before_;
};

}  // namespace trigram
