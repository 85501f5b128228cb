#include "experiments/process/signals.h"

#include <ctime>
#include <initializer_list>

namespace trigram {

Signals::Signals() {
  sigemptyset(&waited_);
  for (int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) sigaddset(&waited_, signal);
  ::signal(SIGCHLD, SIG_DFL);  // if SIGCHLD is ignored, the parent cannot wait for children
  sigprocmask(SIG_BLOCK, &waited_, &before_);
}

Signals::~Signals() { restore(); }

void Signals::restore() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

int Signals::wait(double timeout_s) {
  const auto whole = static_cast<time_t>(timeout_s);
  const timespec timeout{whole, static_cast<long>((timeout_s - static_cast<double>(whole)) * 1e9)};
  const int signal = sigtimedwait(&waited_, nullptr, &timeout);
  return signal > 0 ? signal : 0;
}

}  // namespace trigram
