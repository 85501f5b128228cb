#pragma once

#include "algorithms/execution/averages.h"

namespace trigram {

/// Whether the bias correction of frozen optimizer state is frozen too, or grows with the steps.
enum class BiasCorrection { frozen, grows };

/// How the warm-up ends, and whether its averages are hierarchical.
enum class WarmUp {
  /// Every step is an optimizer step on mean gradients, hierarchical if the run is.
  plain,
  /// As in BAGUA's QAdam (bagua/torch_api/algorithms/q_adam.py): the last step averages gradients,
  /// ignores the result, and moves along the present moments. The averages are never hierarchical.
  ignores_last_gradient
};

/// Training in two phases: `warmup_steps` steps of the optimizer on the mean gradient; then the
/// ranks average encoded moments, while the rest of the optimizer's state is frozen.
void train_on_moments(Context ctx, Run& run, long warmup_steps, WarmUp warm_up,
                      const AllreduceSpec& dense, const Coding& coding, BiasCorrection correction);

}  // namespace trigram
