#pragma once

#include "core/workloads/profile.h"

namespace trigram {

/// True if scaled_to() can convert the profile: the rates of both accelerators are known, their
/// names differ, and the profile gives its layers' FLOPs.
bool can_scale(const Profile& profile, const AcceleratorRates& to);

/// Layer times of a profile, converted to another accelerator. The time that a layer's FLOPs take
/// at the peak rate of the measured accelerator counts as arithmetic and scales with the FLOP
/// rates; the rest of its time counts as memory traffic and scales with the memory bandwidths. If a
/// layer's FLOPs would take longer than its time, the excess is attributed to the other layers of
/// the pass. `least_s` and `most_s` are the step times if all time scaled with only one of the two
/// ratios.
///
/// The times are an estimate: kernels may use the other accelerator less well, and the precision
/// may differ.
struct ScaledTimes {
  Profile profile;
  double least_s = 0, most_s = 0;
};
ScaledTimes scaled_to(Profile profile, const AcceleratorRates& to);

/// Describes in one sentence how `measured` was scaled.
std::string assumption(const ScaledTimes& scaled, const Profile& measured,
                       const AcceleratorRates& to);

}  // namespace trigram
