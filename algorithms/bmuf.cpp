// BMUF, blockwise model-update filtering: local SGD that filters its averages with a momentum (Chen
// and Huo, ICASSP 2016).
//
//   every H steps, from W_g to the exact average W_a:
//     d = eta d + zeta (W_a - W_g);  W = W + d
//     classical block momentum: W_g = W;  Nesterov's: W_g = W + eta d;  all workers continue from
//     W_g
//
// The default of eta is 1 - 1/P, for P workers. We restate the equations here and do not quote
// numbers of the paper. With Nesterov's momentum the implementation does not store W, and a run
// ends with W_g, not with W. Since W = W_g - eta d, it computes
//
//     W_g = W_g + zeta (W_a - W_g) + eta d          with the new d
//
// The state of the optimizer stays local. Messages and bytes per rank and average, for a model of S
// bytes and a ring: 2(P-1) messages, 2(P-1)/P S bytes. If weights are exchanged in buckets (option
// `bucket`), each bucket takes 2(P-1) messages, one bucket after another. Memory: two more models.

#include "algorithms/entries.h"
#include "algorithms/execution/outer_momentum.h"
#include "algorithms/options.h"
#include "core/config/option_type.h"

namespace trigram::algorithm::bmuf {
namespace {

enum class Momentum { classical, nesterov };

struct Options {
  Execution execution;
  std::int64_t sync_every = 16;
  std::optional<double> block_momentum;
  double block_lr = 1;
  Momentum momentum = Momentum::nesterov;
  AllreduceSpec allreduce;
};

void train(Context ctx, Run& run, const Options& options) {
  const double eta = options.block_momentum.value_or(1 - 1.0 / ctx.size());
  const OuterStep filter{.momentum = static_cast<float>(eta),
                         .gradient_scale = static_cast<float>(options.block_lr),
                         .nesterov = options.momentum == Momentum::nesterov};
  train_in_blocks(ctx, run, options.sync_every, full_average(options.allreduce),
                  [filter](float) { return filter; });
}

}  // namespace

AlgorithmEntry bmuf_entry() {
  return algorithm_entry(
      {.name = "bmuf",
       .doc = "Local SGD with momentum over blocks of steps",
       .trigram = kSyncFullPrecisionCentralised,
       .execution_options = "FH",
       .source = "Chen and Huo, Blockwise Model-Update Filtering, ICASSP 2016",
       .exchanges_weights = true},
      train,
      FieldTable<Options>{}
          .field("sync_every", &Options::sync_every, integer(1), "Steps between averages")
          .field("block_momentum", &Options::block_momentum, optional(number(0, 1, Open::above)),
                 "eta: share of the last update kept; null: 1 - 1/P")
          .field("block_lr", &Options::block_lr, number(0, 1e3), "zeta: block learning rate")
          .field("momentum", &Options::momentum,
                 one_of<Momentum>(
                     {{"classical", Momentum::classical}, {"nesterov", Momentum::nesterov}}),
                 "Where a block of steps begins: classical: at the result of the last block; "
                 "nesterov: eta d beyond it, where d is the last update")
          .field("allreduce", &Options::allreduce, allreduce_kind(), "Algorithm of the allreduce"));
}

}  // namespace trigram::algorithm::bmuf
