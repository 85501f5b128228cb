#pragma once

#include "algorithms/execution/averages.h"

namespace trigram {

/// What becomes of the optimizer's bias correction of a state that is frozen.
enum class BiasCorrection { frozen, grows };

/// How the warm-up ends and who takes part in its averages.
enum class WarmUp {
  /// All of its steps are the optimizer's, on mean gradients, hierarchical if the run is.
  plain,
  /// As in BAGUA's QAdam (bagua/torch_api/algorithms/q_adam.py): its last step averages gradients,
  /// ignores them, and moves along the moments as they are. Never hierarchical.
  ignores_last_gradient
};

/// Training in two phases: `warmup_steps` of the optimizer on the mean gradient; then its moments
/// are what is averaged, coded, while the rest of its state is frozen.
void train_on_moments(Context ctx, Run& run, long warmup_steps, WarmUp warm_up,
                      const AllreduceSpec& dense, const Coding& coding, BiasCorrection correction);

}  // namespace trigram
