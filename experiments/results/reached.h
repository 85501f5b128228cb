#pragma once

#include <string>

namespace trigram {

/// Times that differ by less than this share are ties.
constexpr double kTie = 0.01;

/// When an accuracy was reached, or what else took how long. An accuracy is reached between two
/// evaluations: after `after_s`, the time of the last that was not as accurate (0: there was none),
/// and by `time_s`. What is known exactly has both equal; what never came to be, both infinite.
/// In seconds; accuracy.py and winner_map.py have the same rule for tables and reports.
struct Reached {
  double after_s = 0, time_s = 0;

  /// Whether evaluations are too far apart to tell: of evenly spread ones, fewer than five.
  bool coarse() const;
  /// Whether it may have come before `best`, which came to be at the latest before all others, or
  /// ties with it.
  bool may_precede(const Reached& best) const;
  /// To three digits: "47.1–51.4", "≤14.7 ~" where it is coarse and there was no evaluation before.
  std::string text() const;
};

/// What "~" means, as a line below a table.
constexpr const char* kCoarseLegend =
    "~ coarse: fewer than five evaluations until then, too few to rank what may be as early; "
    "a smaller eval_every or a higher accuracy tells more\n";

}  // namespace trigram
