#pragma once

#include "algorithms/execution/averages.h"
#include "algorithms/execution/steps.h"

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

/// Training in two phases: `warmup_steps` steps of the optimizer on the mean gradient, averaged by
/// `allreduce`; then the ranks average encoded moments, while the rest of the optimizer's state is
/// frozen.
void train_on_moments(Context ctx, Run& run, long warmup_steps, WarmUp warm_up,
                      const AllreduceSpec& allreduce, const Coding& coding,
                      BiasCorrection correction);

// Training loops of algorithms that differ only in their codec and defaults. Their Options have the
// members that the field tables in algorithms/options.h describe: `coding_fields`,
// `scatter_reduce_fields` (for a coded scatter-reduce) or `moment_fields` (for moments after a
// warm-up).

template <class Options>
Coding coding_of(const Options& options, const Run& run) {
  Coding coding{.codec = options.codec,
                .error_feedback = options.error_feedback,
                .seed = run.seed,
                .state = run.state};
  if constexpr (requires { options.phase2; }) {
    coding.phase2 = options.phase2;
    coding.shares = options.shares;
  }
  return coding;
}

/// x = x - lr U(g), where g is the average of the encoded gradients, bucket by bucket.
template <class Options, Exchange (*average)(const Coding&)>
void train_on_coded_gradients(Context ctx, Run& run, const Options& options) {
  train_on_gradients(ctx, run, average(coding_of(options, run)));
}

/// After a warm-up, the optimizer steps along the average of the encoded moments.
template <class Options, BiasCorrection correction, WarmUp warm_up>
void train_on_coded_moments(Context ctx, Run& run, const Options& options) {
  train_on_moments(ctx, run, options.warmup_steps, warm_up, options.allreduce,
                   coding_of(options, run), correction);
}

}  // namespace trigram
