#pragma once

#include <string>

#include "experiments/config/target_level.h"

namespace trigram {

/// Times that differ by less than this fraction are ties.
constexpr double kTie = 0.01;

/// The time in seconds in which a run reached an accuracy or a loss, its target, as an interval,
/// because the model's quality is known only at evaluations: the target was reached after
/// `after_s`, and not later than `time_s`. `after_s` is the time of the last evaluation at which it
/// was not reached, or of an earlier one if the quality goes up and down: an evaluation that lacks
/// no more than evaluations deviate from their neighbours from then on may be next to a model that
/// reached the target. If there was no evaluation before, `after_s` is the time of the first model
/// that can have reached the target (0 if unknown). Both are equal if the time is known exactly,
/// and infinite if the target was never reached. time_to_target.py and winner_map.py apply the same
/// rules to tables and reports.
struct TimeToTarget {
  double after_s = 0, time_s = 0;

  /// True if the interval is too long to rank the run by `time_s`. With evenly spaced evaluations
  /// of a quality that only improves, there were then fewer than five up to `time_s`.
  bool is_coarse() const;
  /// True if this time may be earlier than `best`, or ties with it. `best` must be the time with
  /// the least `time_s`.
  bool may_precede(const TimeToTarget& best) const;
  /// The interval with three digits: "47.1–51.4"; or "≤14.7 ~" if it is coarse and there was no
  /// evaluation before.
  std::string text() const;
};

/// The legend of "~" below a table of times to a target.
std::string coarse_legend(const TargetLevel& target);

}  // namespace trigram
