#include "runtime/host/world.h"

#include "core/check.h"
#include "runtime/host/back_off.h"

namespace trigram::host {

void HostWaiter::await(const Wait& why, const std::function<bool()>& ready) {
  if (ready()) return;
  TRIGRAM_CHECK(this_endpoint() != nullptr, "a wait outside any stream");
  Endpoint& self = *this_endpoint();
  BackOff back_off = BackOff::for_messages();
  bool reported = false;  // the endpoint shows this wait to the watchdog
  do {
    self.world.check_not_failed();
    if (AcceleratorBackend* const accelerator = self.world.accelerator()) accelerator->check();
    self.world.idle();
    if (back_off.sleeping() && !reported) {
      const bool may_last = why.kind == Wait::connection;
      self.set_state(may_last ? Endpoint::State::timed_wait : Endpoint::State::blocked, why);
      reported = true;
    }
    back_off.pause();
  } while (!ready());
  if (reported) self.end_wait();
}

}  // namespace trigram::host
