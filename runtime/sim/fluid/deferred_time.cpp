#include "runtime/sim/fluid/deferred_time.h"

#include <algorithm>

namespace trigram::sim {
namespace {

/// The later of two times.
class LaterOfTwo final : public SimEvent {
 public:
  LaterOfTwo(DeferredTime a, DeferredTime b) : a_(std::move(a)), b_(std::move(b)) {}

 private:
  bool known() override {
    if (reached()) return true;
    if (!b_.known() || !a_.known()) return false;
    date_s_ = std::max(a_.date_s(), b_.date_s());
    return true;
  }
  /// Waits first for the time that was created later, because it usually becomes known last.
  SimEvent& next() override { return b_.known() ? a_.next() : b_.next(); }

  DeferredTime a_, b_;
};

}  // namespace

void SimEvent::when_reached(std::function<void()> action) {
  if (!actions_) actions_ = std::make_unique<std::vector<std::function<void()>>>();
  actions_->push_back(std::move(action));
}

void SimEvent::reach(double date_s) {
  date_s_ = date_s;
  const auto actions = std::move(actions_);
  if (!actions) return;
  for (const auto& action : *actions) action();
}

/// No new event is needed if one time is known and the other is an event without an offset.
DeferredTime DeferredTime::later(DeferredTime a, DeferredTime b) {
  const bool both_known = a.known() && b.known();
  if (both_known) return a.seconds_ > b.seconds_ ? a : b;
  if (a.known()) std::swap(a, b);
  if (b.known() && a.seconds_ == 0) {
    a.base_.not_before_s = std::max(a.base_.not_before_s, b.seconds_);
    return a;
  }
  return after({std::make_shared<LaterOfTwo>(std::move(a), std::move(b))}, 0);
}

bool DeferredTime::known() const {
  if (!base_.event) return true;
  if (!base_.event->known()) return false;
  seconds_ += std::max(base_.event->date_s_, base_.not_before_s);
  base_ = {};
  return true;
}

}  // namespace trigram::sim
