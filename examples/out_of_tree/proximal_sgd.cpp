// Proximal local SGD, after FedProx with all workers in every round (Li et al., arXiv 1812.06127).
//
//   x_i = x_i - lr U(g_i(x_i) + mu (x_i - x));  every H steps: x = x_i = 1/P sum_j x_j
//
// mu (x_i - x) is the gradient of mu/2 |x_i - x|^2: it pulls local steps back to the last average
// x, from which they start. With mu = 0 this is local SGD. For each average, each rank sends 2(P-1)
// messages and 2(P-1)/P S bytes on a ring, for a model of S bytes. Memory: one more model.

#include "proximal_sgd.h"

#include "algorithms/entries.h"
#include "algorithms/execution/averages.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/steps.h"

using namespace trigram;

namespace {

struct Options {
  Execution execution;
  std::int64_t sync_every = 8;
  double mu = 0.1;
};

void train(Context ctx, Run& run, const Options& options) {
  auto comm = ctx.stream->fork("comm");
  const auto average = across(run.execution, full_average(AllreduceAlgorithm::ring));
  const Tensor x = run.workload.weights(), g = run.workload.gradients();
  const Tensor start = ctx.device->empty_like(x);
  ctx.device->copy(start, x);
  const auto mu = static_cast<float>(options.mu);
  for (long t : run.steps) {
    compute_gradients(ctx, run);
    ctx.device->axpby(mu, x, 1, g);
    ctx.device->axpby(-mu, start, 1, g);
    optimizer_step(ctx, run);
    if ((t + 1) % options.sync_every != 0) continue;
    exchange_on(*comm, ctx, run, x, average);
    ctx.device->copy(start, x);
  }
}

}  // namespace

AlgorithmEntry proximal_sgd_entry() {
  return algorithm_entry(
      {.name = "proximal_sgd",
       .doc = "Workers step alone, pulled back to the last average, and average every few steps",
       .trigram = kSyncFullPrecisionCentralised,
       .execution_options = "H",
       .source = "Li et al., FedProx, arXiv 1812.06127"},
      train,
      FieldTable<Options>{}
          .field("sync_every", &Options::sync_every, integer(1), "Steps between averages")
          .field("mu", &Options::mu, number(0, 1e3), "How strongly steps are pulled back"));
}
