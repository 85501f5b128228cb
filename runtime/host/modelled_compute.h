#pragma once

#include "core/config/option_type.h"

namespace trigram {

/// How a real-time world treats computation of which only the duration is known, such as the layers
/// of a profile.
enum class ModelledCompute {
  slept,
  skipped,
};

inline OptionType<ModelledCompute> modelled_compute_kind() {
  return one_of<ModelledCompute>(
      {{"slept", ModelledCompute::slept}, {"skipped", ModelledCompute::skipped}});
}
inline constexpr const char* kModelledComputeHelp =
    "How computation runs that has only a modelled duration, such as a profile's. slept: sleep for "
    "that duration, minus the time of the real model that it replaces (priced_as); skipped: take "
    "no time";

}  // namespace trigram
