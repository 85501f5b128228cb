// BMUF, blockwise model-update filtering: local SGD whose averages are filtered by a momentum (Chen
// and Huo, ICASSP 2016).
//
//   every H steps, from W_g to the exact average W_a:
//     d = eta d + zeta (W_a - W_g);  W = W + d
//     classical block momentum: W_g = W;  Nesterov's: W_g = W + eta d;  all go on from W_g
//
// eta = 1 - 1/P unless it is given, P workers. Equations restated here; numbers of the paper are
// not quoted. With Nesterov's momentum, W is not kept, nor what a run ends with: since
// W = W_g - eta d,
//
//     W_g = W_g + zeta (W_a - W_g) + eta d          with the new d
//
// The state of the optimizer stays local. Steps and bytes per rank and average, S bytes of model,
// ring: 2(P-1) messages, 2(P-1)/P S bytes. Memory: two models more.
// In buckets, an option: as many messages per bucket, one bucket after another.

#include "algorithms/entries.h"
#include "algorithms/execution/outer_momentum.h"
#include "algorithms/options.h"
#include "core/config/option_types.h"

namespace trigram {
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
  const OuterStep filter{.kept = static_cast<float>(eta),
                         .gain = static_cast<float>(options.block_lr),
                         .nesterov = options.momentum == Momentum::nesterov};
  train_in_blocks(ctx, run, options.sync_every, options.allreduce,
                  [filter](float) { return filter; });
}

}  // namespace

AlgorithmEntry bmuf_entry() {
  return algorithm_entry(
      {.name = "bmuf",
       .doc = "Local SGD with momentum over blocks of steps",
       .trigram = kSyncFullCentralised,
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

}  // namespace trigram
