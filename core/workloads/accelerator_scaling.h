#pragma once

#include "core/workloads/profile.h"

namespace trigram {

/// Whether the rule below can be applied: both machines' rates are known, they have other names,
/// and the profile says its layers' FLOPs.
bool can_scale(const Profile& profile, const AcceleratorRates& to);

/// Layer times of a profile as they would be on another accelerator. Of what a pass through a layer
/// takes, the time of its FLOPs at the peak rate of the accelerator on which it was measured is
/// arithmetic, and changes with the rates of arithmetic; the rest is memory traffic, and changes
/// with the rates of memory. FLOPs for which a layer has no time count with the other layers of the
/// pass. `least_s` and `most_s` are the step if all time went with one of both.
///
/// Neither kernels that use another accelerator less well nor another precision are known, so the
/// times are an estimate.
struct ScaledTimes {
  Profile profile;
  double least_s = 0, most_s = 0;
};
ScaledTimes scaled_to(Profile profile, const AcceleratorRates& to);

/// That rule as applied, as a sentence.
std::string assumption(const ScaledTimes& now, const Profile& before, const AcceleratorRates& to);

}  // namespace trigram
