#include "runtime/host/endpoint.h"

#include "runtime/host/world.h"

namespace trigram::host {

void Endpoint::sleep(double seconds) {
  const std::chrono::duration<double> duration(seconds);
  std::unique_lock lock(mutex);
  wake.wait_for(lock, duration, [&] { return world.failed(); });
  world.check_not_failed();
}

void Endpoint::spend(double seconds) {
  if (seconds <= 0) return;
  if (waits_ended != waits_ended_before) overslept_s = 0;  // a wait has absorbed the excess
  const double begin_s = world.now();
  if (seconds > overslept_s) sleep(seconds - overslept_s);
  overslept_s += world.now() - begin_s - seconds;
  waits_ended_before = waits_ended;
}

void Endpoint::poke() noexcept {
  // Taking the mutex ensures that the owner is not between evaluating its condition and sleeping.
  { std::lock_guard lock(mutex); }
  wake.notify_one();
}

void Endpoint::set_state(State next, const Wait& why) {
  std::lock_guard lock(mutex);
  state = next;
  wait = why;
}

std::string Endpoint::wait_line() const {
  Wait why = wait;
  if (why.kind ==
      Wait::message) {  // name a half of the batch that is missing, preferably a receive
    const PostedTransfer* missing = nullptr;
    for (const PostedTransfer& half : batch)
      if (!half.done && (missing == nullptr || missing->kind < half.kind)) missing = &half;
    if (missing != nullptr) {
      why.peer = missing->peer;
      why.kind = missing->kind == Transfer::recv ? Wait::message : Wait::receiver;
    }
  }
  return wait_text(rank, stream, why);
}

std::shared_ptr<AcceleratorEvent> issued_here() {
  const Endpoint* caller = this_endpoint();
  return caller && caller->queue ? caller->queue->record() : nullptr;
}

Endpoint*& this_endpoint() {
  thread_local Endpoint* endpoint = nullptr;
  return endpoint;
}

void check_on_stream(const Endpoint& endpoint) {
  check_owner(this_endpoint() == &endpoint, endpoint.rank, endpoint.stream);
}

void check_on_rank(const Endpoint& endpoint) {
  const Endpoint* caller = this_endpoint();
  const bool here = caller && &caller->world == &endpoint.world && caller->rank == endpoint.rank;
  check_owner(here, endpoint.rank, endpoint.stream);
}

}  // namespace trigram::host
