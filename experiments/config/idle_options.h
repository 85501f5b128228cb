#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "experiments/config/experiment.h"
#include "experiments/config/sweep.h"

namespace trigram {

/// Options that have no effect in combination with the other options. In a sweep, an option may
/// have an effect at some points only; it is then left out at the other points. For example,
/// `transport.segment` is left out where a sweep of `loss` has the value 0. An option that has no
/// effect at any of the points that set it is a mistake.
class IdleOptions {
 public:
  /// Parses a point and removes the options without effect from its configuration.
  Experiment parse(const FieldTable<Experiment>& fields, SweepPoint& point);
  /// Throws ConfigError for options that have no effect at any of `points`. Every point must have
  /// been parsed.
  void check(const std::vector<SweepPoint>& points) const;

 private:
  /// The pointer of an option, and what sets it, as JSON: the swept values, and the job if it gives
  /// the field itself.
  using Origin = std::pair<std::string, std::string>;
  static Origin origin(const SweepPoint& point, const std::string& pointer);

  std::map<Origin, Mistake> idle_;  // the options that were removed from some point
};

}  // namespace trigram
