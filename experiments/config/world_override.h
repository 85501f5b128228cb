#pragma once

#include <vector>

#include "core/config/option_type.h"
#include "experiments/config/sweep.h"

namespace trigram {

/// Takes a configuration to a world that it need not be for: {"name": ..., options}, where the
/// options are those that count unless the configuration itself says otherwise of that world. What
/// it says of other worlds is left out, so that variants which differ in that alone become one.
class WorldOverride {
 public:
  /// Reports an unknown world, or option of it, at `reported_at`.
  WorldOverride(const Json& world, const std::string& reported_at);

  /// Before the settings of a command line, which are then for that world; and after them.
  void file(Json& config);
  /// Once the sweep has been expanded.
  void points(std::vector<SweepPoint>& points) const;

 private:
  bool is_there(const Json& runtime) const;
  bool leave_out_options(SweepPoint& point) const;
  bool take(SweepPoint& point) const;
  Json world_;
  bool foreign_ = false;  // the file is for another
};

/// Whether a world, by its name, has an option that a JSON pointer below "/runtime" leads to.
bool has_option(const std::string& world, const std::string& pointer);

}  // namespace trigram
