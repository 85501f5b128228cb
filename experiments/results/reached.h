#pragma once

#include <string>

namespace trigram {

/// Times that differ by less than this fraction are ties.
constexpr double kTie = 0.01;

/// The time in seconds in which a run reached an accuracy. Evaluations give only an interval. The
/// accuracy was reached not later than `time_s`, and later than `after_s`. `after_s` is the time of
/// the last evaluation below the accuracy or, if there was none, the earliest time at which a model
/// could have reached it, which is the end of the first step (0 if unknown). Both are equal if the
/// time is known exactly, and infinite if the accuracy was never reached. accuracy.py and
/// winner_map.py apply the same rules to tables and reports.
struct Reached {
  double after_s = 0, time_s = 0;

  /// True if the interval is too long for `time_s` to be used in a ranking. If evaluations are
  /// evenly spaced, there are then fewer than five up to `time_s`.
  bool coarse() const;
  /// `best` has the least `time_s` of all. True if this time may be earlier than that of `best`, or
  /// ties with it.
  bool may_precede(const Reached& best) const;
  /// The interval with three digits: "47.1–51.4"; or "≤14.7 ~" if it is coarse and there was no
  /// evaluation before.
  std::string text() const;
};

/// The legend of "~" below a table.
constexpr const char* kCoarseLegend =
    "~ coarse: fewer than five evaluations until then, too few to rank what may be as early; "
    "a smaller eval_every or a higher accuracy tells more\n";

}  // namespace trigram
