// NoLoCo: blocks of local steps, after which random pairs of workers, and no larger group, exchange
// what they learned (Kolehmainen et al., arXiv 2506.10911).
//
//   every H steps, from the slow weights y_i to x_i, with the partner j of a random matching:
//     d_i = x_i - y_i
//     v_i = alpha v_i + beta (d_i + d_j) / 2 - gamma (y_i - (y_i + y_j) / 2)
//     y_i = y_i + v_i;  x_i = y_i
//
// This is the rule of gensyn-ai/noloco (sparse_optimizer_c.py at a1b4a42), which has gamma = beta.
// The pull towards the partner keeps models together; they never become equal. If the number of
// workers is odd, one worker of a round has no partner, and uses its own values alone.
//
// Messages and bytes per rank with a partner and round, for a model of S bytes: 2 messages, 2 S
// bytes. If weights are exchanged in buckets (option `bucket`), 2 messages per bucket. Memory:
// three more models.

#include "algorithms/entries.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"
#include "algorithms/peers/registry.h"

namespace trigram::algorithm::noloco {
namespace {

struct Options {
  Execution execution;
  std::int64_t sync_every = 50;
  double momentum = 0.5, outer_lr = 0.7, pull = 0.7;
};

void train(Context ctx, Run& run, const Options& options) {
  auto comm = ctx.stream->fork("comm");
  const std::shared_ptr<const PeerGraph> graph = make_peer_graph({"random_matching"}, run.seed);
  const auto mean_of_pair = across(run.execution, [graph](Context c, const Tensor& x, Slot slot) {
    d_fp_s(c, x, graph->peers(c.rank(), c.size(), slot.step));
  });
  const Tensor weights = run.workload.weights();
  const Tensor slow = run.state.copy_of(ctx, "slow", weights),
               momentum = run.state.zeros_like(ctx, "momentum", weights),
               pair = ctx.device->empty_like(weights);
  const auto alpha = static_cast<float>(options.momentum),
             beta = static_cast<float>(options.outer_lr), gamma = static_cast<float>(options.pull);
  Device& device = *ctx.device;
  for (long t : run.steps) {
    local_step(ctx, run);
    if ((t + 1) % options.sync_every != 0) continue;
    device.axpby(-1, slow, 1, weights);
    device.copy(pair, slow);
    exchange_on(*comm, ctx, run, weights, mean_of_pair);
    exchange_on(*comm, ctx, run, pair, mean_of_pair);
    device.axpby(beta, weights, alpha, momentum);
    device.axpby(-gamma, slow, 1, momentum);
    device.axpby(gamma, pair, 1, momentum);
    device.axpby(1, momentum, 1, slow);
    device.copy(weights, slow);
  }
}

/// The pairs of a round are drawn at random, so rounds differ where routes do.
ExchangeSchedule schedule(const Options& options, const Layout&) {
  return {.cycle = Cycle{.steps = options.sync_every, .exact = false},
          .interval_steps = options.sync_every};
}

}  // namespace

AlgorithmEntry noloco_entry() {
  return algorithm_entry(
      {.name = "noloco",
       .doc = "Blocks of local steps, then an outer step with the changes of one random partner",
       .trigram = kSyncFullPrecisionDecentralised,
       .execution_options = "FH",
       .source = "Kolehmainen et al., NoLoCo, arXiv 2506.10911",
       .exchanges_weights = true},
      train,
      FieldTable<Options>{}
          .field("sync_every", &Options::sync_every, integer(1), "H: steps between exchanges")
          .field("momentum", &Options::momentum, number(0, 1, Open::above),
                 "alpha: share of the outer momentum kept")
          .field("outer_lr", &Options::outer_lr, number(0, 1e3), "beta: outer learning rate")
          .field("pull", &Options::pull, number(0, 1e3),
                 "gamma: pull of the slow weights towards the pair's mean"),
      {.schedule = schedule});
}

}  // namespace trigram::algorithm::noloco
