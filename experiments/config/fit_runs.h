#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/config/plan.h"

namespace trigram {

/// A run that is well described, but not for the cluster or the world that it is for: too few
/// workers for its algorithm, and the like.
struct UnfitRun {
  Json coordinates;
  ConfigError why;
};

/// As make_plan, but runs that are unfit go to `unfit`, as long as one is fit.
Plan plan_fit_runs(const std::filesystem::path& config, const std::vector<std::string>& settings,
                   std::vector<UnfitRun>& unfit);

}  // namespace trigram
