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

  /// Calls `action` when it is reached.
  void when_reached(std::function<void()> action);
  /// Is reached at `date_s`.
  void reach(double date_s);
  bool reached() const { return !std::isnan(date_s_); }

 protected:
  friend class DeferredTime;
  /// Whether the date is known by now.
  virtual bool known() { return reached(); }
  /// A milestone that has to be reached before the date of this one is known.
  virtual SimEvent& next() { return *this; }
  double date_s_ = std::numeric_limits<double>::quiet_NaN();  // not a number until it is reached

 private:
  std::unique_ptr<std::vector<std::function<void()>>> actions_;  // null: none
};

/// The later of a milestone and a date. Empty where there is no milestone.
struct Since {
  std::shared_ptr<SimEvent> milestone = nullptr;
  double not_before_s = -std::numeric_limits<double>::infinity();
};

/// A point of simulated time: a date, or so many seconds after an event whose date is not known.
class DeferredTime {
 public:
  static DeferredTime at(double date_s) { return {{}, date_s}; }
  static DeferredTime after(Since since, double seconds) { return {std::move(since), seconds}; }
  /// The later of both.
  static DeferredTime later(DeferredTime a, DeferredTime b);

  /// Whether the date is known by now.
  bool known() const;
  /// Once it is known.
  double date_s() const { return seconds_; }
  /// While it is not: a milestone that has to be reached first.
  SimEvent& next() const { return since_.milestone->next(); }
  /// What it comes after; empty if the date is known.
  const Since& since() const { return since_; }
  /// After that, if there is a milestone.
  double seconds() const { return seconds_; }

 private:
  DeferredTime(Since since, double seconds) : since_(std::move(since)), seconds_(seconds) {}
  mutable Since since_;
  mutable double seconds_;
};

/// An instant of a stream, as those who measure know it.
class DeferredEventTime final : public EventTime {
 public:
  explicit DeferredEventTime(DeferredTime instant) : instant_(std::move(instant)) {}
  bool known() const override { return instant_.known(); }
  double seconds() const override { return instant_.known() ? instant_.date_s() : 0; }

 private:
  DeferredTime instant_;
};

}  // namespace trigram::sim
