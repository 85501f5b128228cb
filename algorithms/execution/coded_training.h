#pragma once

#include "algorithms/execution/averages.h"
#include "algorithms/execution/moments.h"
#include "core/algorithm.h"

// Algorithms that differ in their codec and defaults alone. Options are those of `coding_fields`
// or, with a warm-up, `moment_fields` (algorithms/options.h), beside an Execution.

namespace trigram {

/// x = x - lr U(g), where g is the average of all coded gradients, bucket by bucket.
template <class Options, Exchange (*average)(const Coding&)>
class TrainsOnCodedGradients final : public Algorithm {
 public:
  explicit TrainsOnCodedGradients(const Options& options) : options_(options) {}

  void train(Context ctx, Run& run) override {
    auto comm = ctx.stream->fork("comm");
    const auto exchange =
        across(run.execution, average({options_.codec, options_.error_feedback, run.seed}));
    for ([[maybe_unused]] long t : run.steps) gradient_step(ctx, run, *comm, exchange);
  }

 private:
  Options options_;
};

/// After a warm-up, steps along the average of all coded moments.
template <class Options, BiasCorrection correction>
class TrainsOnCodedMoments final : public Algorithm {
 public:
  explicit TrainsOnCodedMoments(const Options& options) : options_(options) {}

  void train(Context ctx, Run& run) override {
    train_on_moments(ctx, run, options_.warmup_steps, options_.allreduce,
                     {options_.codec, options_.error_feedback, run.seed}, correction);
  }

 private:
  Options options_;
};

}  // namespace trigram
