#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "core/stream.h"

namespace trigram::sim {

/// An event whose date is not known before it happens, such as the end of a collective.
class SimEvent {
 public:
  SimEvent() = default;
  virtual ~SimEvent() = default;
  SimEvent(const SimEvent&) = delete;
  SimEvent& operator=(const SimEvent&) = delete;

  /// Calls `action` when the event is reached.
  void when_reached(std::function<void()> action);
  /// Marks the event as reached at `date_s`.
  void reach(double date_s);
  bool reached() const { return !std::isnan(date_s_); }

 protected:
  friend class DeferredTime;
  /// True if the date is known.
  virtual bool known() { return reached(); }
  /// An event that must be reached before the date of this event can be known.
  virtual SimEvent& next() { return *this; }
  double date_s_ = std::numeric_limits<double>::quiet_NaN();  // NaN until the event is reached

 private:
  std::unique_ptr<std::vector<std::function<void()>>> actions_;  // null if there are none
};

/// The time to which a DeferredTime is relative: the later of the event's date and `not_before_s`.
/// Empty without an event.
struct TimeBase {
  std::shared_ptr<SimEvent> event = nullptr;
  double not_before_s = -std::numeric_limits<double>::infinity();
};

/// A point in simulated time: a date, or a number of seconds after an event whose date is not known
/// yet.
class DeferredTime {
 public:
  static DeferredTime at(double date_s) { return {{}, date_s}; }
  static DeferredTime after(TimeBase base, double seconds) { return {std::move(base), seconds}; }
  /// The later of `a` and `b`.
  static DeferredTime later(DeferredTime a, DeferredTime b);

  /// True if the date is known.
  bool known() const;
  /// The date; valid once it is known.
  double date_s() const { return seconds_; }
  /// Valid while the date is not known: an event that must be reached first.
  SimEvent& next() const { return base_.event->next(); }
  /// Empty if the date is known.
  const TimeBase& base() const { return base_; }
  /// Seconds after base(), if that has an event; otherwise the date.
  double seconds() const { return seconds_; }

 private:
  DeferredTime(TimeBase base, double seconds) : base_(std::move(base)), seconds_(seconds) {}
  mutable TimeBase base_;
  mutable double seconds_;
};

/// The deferred time of a stream as an EventTime.
class DeferredEventTime final : public EventTime {
 public:
  explicit DeferredEventTime(DeferredTime time) : time_(std::move(time)) {}
  bool known() const override { return time_.known(); }
  double seconds() const override { return time_.known() ? time_.date_s() : 0; }

 private:
  DeferredTime time_;
};

}  // namespace trigram::sim
