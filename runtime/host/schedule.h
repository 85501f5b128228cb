#pragma once

#include <functional>
#include <limits>
#include <map>
#include <utility>

namespace trigram::host {

/// Actions ordered by due date, in seconds of the owner's clock; actions of the same date run in
/// the order of insertion. A schedule neither waits nor locks; its owner does.
class Schedule {
 public:
  using Action = std::function<void()>;
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  void at(double date_s, Action action);
  /// Date of the next action; kNever if there are none.
  double next() const { return actions_.empty() ? kNever : actions_.begin()->first; }
  /// Runs all actions that are due at `now_s` in the order of their dates. This includes due
  /// actions that are added meanwhile. An action may run later than its date; it should schedule
  /// follow-up actions relative to its own date rather than to `now_s`.
  void run_due(double now_s);

 private:
  std::multimap<double, Action> actions_;
};

inline void Schedule::at(double date_s, Action action) {
  actions_.emplace(date_s, std::move(action));
}

inline void Schedule::run_due(double now_s) {
  while (!actions_.empty() && actions_.begin()->first <= now_s) {
    const auto due = actions_.extract(actions_.begin());
    due.mapped()();
  }
}

}  // namespace trigram::host
