#include "runtime/sim/mutex.h"

#include "core/check.h"
#include "runtime/sim/stream.h"

namespace trigram::sim {

void SimMutex::State::pass_on() {
  owner = nullptr;
  if (waiting.empty()) return;
  owner = waiting.front();
  waiting.pop_front();
  owner->wake();
}

void SimMutex::lock() {
  SimStream* stream = world_.current();
  TRIGRAM_CHECK(stream, "a mutex is locked outside all streams");
  stream->settle();
  State& state = *state_;
  TRIGRAM_CHECK(state.owner != stream, "rank {} locks a mutex twice on stream {}", stream->rank(),
                stream->name());
  if (!state.owner) {
    state.owner = stream;
    return;
  }
  state.waiting.push_back(stream);
  stream->block({.kind = Wait::mutex}, [&] { return state.owner == stream; });
}

void SimMutex::unlock() noexcept {
  SimStream* stream = world_.current();
  // Time that the stream owes was spent holding the mutex, and waking a waiter switches context.
  if (stream && (stream->owes() || !state_->waiting.empty()))
    stream->defer([state = state_] { state->pass_on(); });
  else state_->owner = nullptr;
}

}  // namespace trigram::sim
