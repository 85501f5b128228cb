#pragma once

#include <functional>
#include <limits>
#include <map>

namespace trigram::host {

/// Actions by the date at which they are due, in seconds of whoever owns them; those of one date in
/// the order in which they came. It neither waits nor locks: its owner does.
class Schedule {
 public:
  using Action = std::function<void()>;
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  void at(double date_s, Action action);
  /// The date of the next action; kNever without any.
  double next() const { return actions_.empty() ? kNever : actions_.begin()->first; }
  /// Runs all that is due at `now_s`, in the order of dates; what that adds too, if it is due. An
  /// action is run as of its own date, however late the call: whatever follows from it in turn
  /// should be scheduled from that.
  void run_due(double now_s);

 private:
  std::multimap<double, Action> actions_;
};

}  // namespace trigram::host
