#include <algorithm>
#include <simgrid/s4u/Actor.hpp>
#include <utility>

#include "runtime/sim/stream.h"

// The time of a stream: the time that it owes, and the event after which it continues.
namespace trigram::sim {

double SimStream::now() const {
  if (!after_.event) return Simulation::clock() + owed_s_;
  const DeferredTime here = current_time();
  SimStream& asking = *world_.current();
  asking.settle();
  asking.await(here);
  return here.date_s();
}

std::unique_ptr<EventTime> SimStream::mark() {
  return world_.ahead() ? std::make_unique<DeferredEventTime>(current_time()) : nullptr;
}

void SimStream::continue_from(const DeferredTime& time) {
  const bool known = time.known();
  after_ = time.base();
  owed_s_ = known ? std::max(0.0, time.date_s() - Simulation::clock()) : time.seconds();
}

void SimStream::await(const DeferredTime& time) {
  wake_submitted_streams();
  while (!time.known()) {
    time.next().when_reached([this] { wake(); });
    set_wait({.kind = Wait::collective});
    park();
  }
  set_wait({});
}

void SimStream::sleep_for(double seconds) {
  check_current();
  settle();
  pass_time(seconds);
}

void SimStream::charge(const Cost& cost) { compute(world_.cluster().accelerator.seconds(cost)); }

void SimStream::compute(double seconds) {
  check_current();
  if (untimed_) return;
  if (world_.overlap()) compute_with_overlap(seconds);
  else spend(seconds);
}

/// Sleeps at once instead of owing the time, because the pace may change during the computation.
void SimStream::compute_with_overlap(double seconds) {
  settle();
  Overlap& overlap = *world_.overlap();
  overlap.subscribe(rank_, *this);
  for (bool done = seconds <= 0; !done;) {
    const double pace =
        overlap.in_flight(rank_) ? 1 / world_.cluster().accelerator.overlap_slowdown : 1;
    const double begin_s = Simulation::clock();
    done = pace_->acquire_timeout(seconds / pace);  // true: timeout, so the pace has not changed
    seconds -= (Simulation::clock() - begin_s) * pace;
    world_.halt_if_ended();
  }
  overlap.unsubscribe(rank_, *this);
}

void SimStream::settle_owed() {
  wake_submitted_streams();
  const double owed_s = std::exchange(owed_s_, 0);
  const auto after = std::exchange(after_, {});
  double passed_s = 0;
  const auto pass = [&](const TimeBase& base, double seconds) {
    if (base.event) {
      const DeferredTime until = DeferredTime::after(base, seconds);
      await(until);
      return pass_time(until.date_s() - Simulation::clock());
    }
    pass_time(seconds - passed_s);
    passed_s = seconds;
  };
  for (const Deferred& deferred : std::exchange(deferred_, {})) {
    pass(deferred.after, deferred.owed_s);
    deferred.action();
  }
  pass(after, owed_s);
}

void SimStream::pass_time(double seconds) {
  if (seconds <= 0) return;
  simgrid::s4u::this_actor::sleep_for(seconds);
  world_.halt_if_ended();
}

}  // namespace trigram::sim
