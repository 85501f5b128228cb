#include "runtime/sim/mutex.h"

#include "core/check.h"
#include "runtime/sim/stream.h"

namespace trigram::sim {

void SimMutex::State::pass_to_next() {
  locked = !waiting.empty();
  if (!locked) return;
  Ticket& next = *waiting.front();
  waiting.pop_front();
  next.granted = true;
  next.stream->wake();
}

void SimMutex::lock() {
  SimStream* stream = world_.current();
  TRIGRAM_CHECK(stream, "a mutex is locked outside all streams");
  stream->settle();
  if (!state_->locked) {
    state_->locked = true;
    return;
  }
  Ticket ticket{stream};
  state_->waiting.push_back(&ticket);
  stream->block({.kind = Wait::mutex}, [&] { return ticket.granted; });
}

void SimMutex::unlock() noexcept {
  SimStream* stream = world_.current();
  // Unlocking must be deferred: owed time was spent while the mutex was held, and waking a waiter
  // switches context.
  if (stream && (stream->has_owed_time() || !state_->waiting.empty()))
    stream->defer([state = state_] { state->pass_to_next(); });
  else state_->locked = false;
}

}  // namespace trigram::sim
