#pragma once

#include <string>

namespace trigram {

/// Times that differ by less than this share are ties.
constexpr double kTie = 0.01;

/// How long something took, in seconds, as far as that is known. An accuracy is reached between two
/// evaluations: after `after_s`, the time of the last one below it, or where there was none, of the
/// first model that could have been as accurate (0: not known), and by `time_s`. Both are equal
/// where the time is known exactly, and infinite where it was never reached. accuracy.py and
/// winner_map.py have the same rule for tables and reports.
struct Reached {
  double after_s = 0, time_s = 0;

  /// Whether evaluations are too far apart to tell: of evenly spread ones, fewer than five.
  bool coarse() const;
  /// Whether it may have been reached before `best`, the one whose `time_s` is the least, or ties
  /// with it.
  bool may_precede(const Reached& best) const;
  /// To three digits: "47.1–51.4", "≤14.7 ~" where it is coarse and there was no evaluation before.
  std::string text() const;
  /// The same without the mark of what is coarse.
  std::string span() const;
};

/// What "~" means, as a line below a table.
constexpr const char* kCoarseLegend =
    "~ coarse: fewer than five evaluations until then, too few to rank what may be as early; "
    "a smaller eval_every or a higher accuracy tells more\n";

}  // namespace trigram
