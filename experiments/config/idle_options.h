#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "experiments/config/experiment.h"
#include "experiments/config/sweep.h"

namespace trigram {

/// Options that have no effect beside the other options. In a sweep such an option may have an
/// effect at some points only, as `transport.segment` has where `loss` is swept from 0 on: it is
/// then left out at the other points. An option without effect at every point that has it is a
/// mistake.
class IdleOptions {
 public:
  /// Parses a point, and takes its idle options out of its configuration.
  Experiment parse(const FieldTable<Experiment>& fields, SweepPoint& point);
  /// Throws ConfigError for options that are idle at all `points`, each of which has been parsed.
  void check(const std::vector<SweepPoint>& points) const;

 private:
  /// The pointer of an option, and the swept values that it is part of.
  using Given = std::pair<std::string, std::string>;
  static Given given(const SweepPoint& point, const std::string& pointer);

  std::map<Given, Mistake> idle_;
};

}  // namespace trigram
