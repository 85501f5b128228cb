#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "experiments/config/experiment.h"
#include "experiments/config/sweep.h"

namespace trigram {

/// Options that have no effect in combination with the other options. In a sweep such an option may
/// have an effect at some points only. It is then left out at the other points. An example is
/// `transport.segment` if a sweep of `loss` begins at 0. An option that has no effect at any of the
/// points that set it is a mistake.
class IdleOptions {
 public:
  /// Parses a point and removes the options without effect from its configuration.
  Experiment parse(const FieldTable<Experiment>& fields, SweepPoint& point);
  /// Throws ConfigError for options that have no effect at any of `points`. Every point must have
  /// been parsed.
  void check(const std::vector<SweepPoint>& points) const;

 private:
  /// The pointer of an option, and the swept values that set it.
  using Given = std::pair<std::string, std::string>;
  static Given given(const SweepPoint& point, const std::string& pointer);

  std::map<Given, Mistake> idle_;
};

}  // namespace trigram
