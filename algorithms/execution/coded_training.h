#pragma once

#include "algorithms/execution/averages.h"
#include "algorithms/execution/exchange.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/moments.h"
#include "algorithms/execution/steps.h"
#include "core/algorithm.h"

// Algorithms that differ in their codec and defaults alone. Options are those of `coding_fields`
// (`scatter_reduce_fields` where they go by one) or, with a warm-up, `moment_fields`
// (algorithms/options.h), beside an Execution.

namespace trigram {

template <class Options>
Coding coding_of(const Options& options, std::uint64_t seed) {
  Coding coding{options.codec, options.error_feedback, seed};
  if constexpr (requires { options.phase2; }) coding.phase2 = options.phase2;
  return coding;
}

/// x = x - lr U(g), where g is the average of all coded gradients, bucket by bucket.
template <class Options, Exchange (*average)(const Coding&)>
class TrainsOnCodedGradients final : public Algorithm {
 public:
  explicit TrainsOnCodedGradients(const Options& options) : options_(options) {}

  void train(Context ctx, Run& run) override {
    auto comm = ctx.stream->fork("comm");
    const auto exchange = across(run.execution, average(coding_of(options_, run.seed)));
    for ([[maybe_unused]] long t : run.steps) gradient_step(ctx, run, *comm, exchange);
  }
  std::optional<Cycle> cycle(const Layout&) const override { return Cycle{}; }

 private:
  Options options_;
};

/// After a warm-up, steps along the average of all coded moments.
template <class Options, BiasCorrection correction, WarmUp warm_up>
class TrainsOnCodedMoments final : public Algorithm {
 public:
  explicit TrainsOnCodedMoments(const Options& options) : options_(options) {}

  void train(Context ctx, Run& run) override {
    train_on_moments(ctx, run, options_.warmup_steps, warm_up, options_.allreduce,
                     coding_of(options_, run.seed), correction);
  }

  std::optional<Cycle> cycle(const Layout&) const override {
    return Cycle{.from = options_.warmup_steps};
  }

 private:
  Options options_;
};

}  // namespace trigram
