#pragma once

#include "algorithms/execution/averages.h"

namespace trigram {

/// What becomes of the optimizer's bias correction of a state that is frozen.
enum class BiasCorrection { frozen, grows };

/// Training in two phases: `warmup_steps` of the optimizer on the mean gradient; then its moments
/// are what is averaged, coded, while the rest of its state is frozen.
void train_on_moments(Context ctx, Run& run, long warmup_steps, const AllreduceSpec& dense,
                      const Coding& coding, BiasCorrection correction);

}  // namespace trigram
