#pragma once

#include <signal.h>

namespace trigram {

/// While this object exists, the signals that matter to a parent process (SIGCHLD, SIGINT, SIGTERM,
/// SIGHUP) are blocked and can be waited for, so that none is lost and no handler runs.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// The next signal, or 0 after `timeout_s` without one.
  int wait(double timeout_s);
  /// In a forked child: restores the earlier signal mask.
  void restore();

 private:
  sigset_t waited_, before_;
};

}  // namespace trigram
