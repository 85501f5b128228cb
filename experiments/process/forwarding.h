#pragma once

#include <sys/types.h>

#include <functional>

namespace trigram {

/// How a child process ended.
struct EndedChild {
  int wait_status = 0;
  bool interrupted = false;  // a signal was passed on to it
};

/// Runs a child process and waits for its end. Signals that ask this process to end are passed on
/// to the child. `become` is called in the child and replaces it by another program. `tick`, if
/// there is one, is called about ten times a second with the child's process id. Throws
/// std::system_error if there can be no child.
EndedChild run_forwarding_signals(const std::function<void()>& become,
                                  const std::function<void(pid_t child)>& tick = {});

}  // namespace trigram
