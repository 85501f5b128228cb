// Eager-SGD: a partial allreduce sums gradients without waiting for late workers (arXiv
// 1908.04207).
//
//   worker i, step t:  send_i += g_i(x_i)         (send_i still holds gradients that came too late)
//                      wait until version t has run;  x_i = x_i - lr U(received_i / P)
//                      received_i = 0
//   version t, agents: sum = sum_j send_j;  send_j = 0;  received_i += sum
//
// In the mode `solo`, the first worker to arrive starts the version on all ranks. In the mode
// `majority`, only one worker may start it, drawn anew for every version, so that on average half
// of the workers have arrived. A worker that is several versions late receives the sum of their
// results (the paper's buffer keeps only the latest), so with plain SGD all models take the same
// steps. Rounding, and optimizers with state, depend on the order of the steps, so models drift
// apart; every `sync_every` steps they are averaged synchronously.
//
// Messages and bytes per rank and iteration, for S bytes of gradient and a ring: 2(P-1) messages
// and 2(P-1)/P S bytes; an average of models takes as many. Each activation takes P-1 control
// messages.

#include <algorithm>
#include <memory>

#include "algorithms/asynchronous/late_contributions.h"
#include "algorithms/asynchronous/partial_collective.h"
#include "algorithms/entries.h"
#include "algorithms/options.h"
#include "algorithms/primitives/primitives.h"
#include "core/random/philox.h"

namespace trigram::algorithm::eager_sgd {
namespace {

enum class Mode { solo, majority };

struct Options {
  Execution execution;
  Mode mode = Mode::majority;
  std::int64_t sync_every = 100;
  AllreduceSpec allreduce;
};

/// Numbers the partial collectives of a run. There is one sum per step, and one average of models
/// after every `k` sums; if k is 0, there are no averages.
struct Versions {
  long k;
  long count(long steps) const { return k == 0 ? steps : steps + steps / k; }
  bool averages_models(long version) const { return k > 0 && version % (k + 1) == k; }
  long step_of(long version) const { return k == 0 ? version : version - version / (k + 1); }
};

void train(Context ctx, Run& run, const Options& options) {
  const auto shared = std::make_shared<LateGradients>(ctx, run);
  const Tensor gradient = run.workload.gradients(), weights = run.workload.weights();
  const Versions versions{options.sync_every};
  long version = versions.count(run.steps.current());
  PartialCollective partial(
      ctx, "agent",
      {.versions = versions.count(run.steps.count()),
       .initiator =
           [versions, mode = options.mode, P = ctx.world_size, seed = run.seed](long v) {
             if (versions.averages_models(v)) return Activation::kAllRanks;
             if (mode == Mode::solo) return Activation::kAnyRank;
             return static_cast<int>(
                 Philox(seed, 0, v, Purpose::peers).below(static_cast<std::uint32_t>(P)));
           },
       .execute =
           [versions, shared, weights, allreduce = options.allreduce](Context c, long v) {
             if (versions.averages_models(v)) c_fp_s(c, weights, allreduce);
             else shared->sum(c, versions.step_of(v), allreduce);
           },
       .first = version});
  for (long t : run.steps) {
    run.workload.forward(ctx);
    run.workload.backward(ctx, [](Bucket&) {});
    shared->add(ctx, gradient, t);
    partial.arrive(ctx, version++);
    shared->take_mean(ctx, gradient);
    for (Bucket& bucket : run.workload.buckets()) run.optimizer.step(ctx, bucket);
    if (versions.averages_models(version)) partial.arrive(ctx, version++);
  }
}

ExchangeSchedule schedule(const Options& options, const Layout&) {
  return {.cycle = Cycle{.steps = std::max<long>(1, options.sync_every), .exact = false}};
}

}  // namespace

AlgorithmEntry eager_sgd_entry() {
  return algorithm_entry(
      {.name = "eager_sgd",
       .doc = "SGD on sums of gradients that do not wait for late workers",
       .trigram = kAsyncFullPrecisionCentralised,
       .execution_options = "",
       .source = "Li et al., arXiv 1908.04207"},
      train,
      FieldTable<Options>{}
          .field(
              "mode", &Options::mode,
              one_of<Mode>({{"solo", Mode::solo}, {"majority", Mode::majority}}),
              "Worker that starts a sum: the first to arrive, or one drawn at random for each sum")
          .field("sync_every", &Options::sync_every, integer(0),
                 "Steps between averages of the models; 0: models are never averaged")
          .field("allreduce", &Options::allreduce, allreduce_kind(),
                 "Algorithm of the partial allreduce and of the averages"),
      {.schedule = schedule});
}

}  // namespace trigram::algorithm::eager_sgd
