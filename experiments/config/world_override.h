#pragma once

#include <vector>

#include "core/config/option_type.h"
#include "experiments/config/sweep.h"

namespace trigram {

/// Retargets a configuration to another world, {"name": ..., options}. The given options apply
/// unless the configuration itself has options for that world. The configuration's options for
/// other worlds are left out, and points that differ only in these become one point.
class WorldOverride {
 public:
  /// Reports an unknown world, or an unknown option of it, at `reported_at`.
  WorldOverride(const Json& world, const std::string& reported_at);

  /// Retargets the content of a configuration file. Call it before the command-line settings are
  /// applied, so that they apply to the new world, and again afterwards, because a setting may
  /// choose a world.
  void retarget_file(Json& config);
  /// Retargets the points. Call it after the sweep has been expanded.
  void retarget_points(std::vector<SweepPoint>& points) const;

 private:
  bool is_target(const Json& runtime) const;
  bool leave_out_options(SweepPoint& point) const;
  bool retarget(SweepPoint& point) const;
  Json world_;
  bool foreign_ = false;  // the file is for another world
};

/// True if the world of that name has the option at `pointer`, which starts with "/runtime/".
bool has_option(const std::string& world, const std::string& pointer);

}  // namespace trigram
