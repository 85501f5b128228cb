#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/workload.h"

namespace trigram {

/// A level of the mean model's quality on held-out data that a run is to reach: an accuracy at or
/// above the level, or a loss at or below it. target.py has the same rule for tables and reports.
struct TargetLevel {
  enum class Of { accuracy, loss };
  Of of = Of::accuracy;
  double level = 0;

  /// "accuracy" or "loss": the key in summaries, and the name in `--target accuracy=0.8`.
  std::string name() const { return of == Of::accuracy ? "accuracy" : "loss"; }
  /// The name with its article: "an accuracy".
  std::string any() const { return of == Of::accuracy ? "an accuracy" : "a loss"; }
  /// A target that takes more steps: "a higher accuracy".
  std::string harder() const { return of == Of::accuracy ? "a higher accuracy" : "a lower loss"; }
  /// The level as it ends the title of a column: "80 %", or "loss 0.35".
  std::string text() const;
  /// The key of an experiment that sets such a target: "target_accuracy".
  std::string option() const { return "target_" + name(); }

  /// The accuracy that `quality` lacks, or the loss that it has too much; at most 0 if it reaches
  /// the target. A loss or an accuracy that is absent, infinite or not a number lacks infinitely
  /// much and never reaches a target.
  double lacking(const Quality& quality) const;
  bool reached_by(const Quality& quality) const { return lacking(quality) <= 0; }

  /// The target of this name at this level, or nothing if there is no such name.
  static std::optional<TargetLevel> named(const std::string& name, double level);
  static std::vector<std::string> names() { return {"accuracy", "loss"}; }
  /// Describes the levels that are allowed, as in "an accuracy above 0 and up to 1".
  std::string allowed() const;
  bool is_allowed() const;
};

}  // namespace trigram
