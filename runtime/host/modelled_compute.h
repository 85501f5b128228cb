#pragma once

#include "core/config/option_type.h"

namespace trigram {

/// What becomes of computation that is known by its length only: a profile's layers.
enum class ModelledCompute {
  slept,
  skipped,
};

inline OptionType<ModelledCompute> modelled_compute_kind() {
  return one_of<ModelledCompute>(
      {{"slept", ModelledCompute::slept}, {"skipped", ModelledCompute::skipped}});
}

}  // namespace trigram
