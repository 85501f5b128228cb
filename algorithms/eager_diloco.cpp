// DiLoCo with eager updates: an average takes as long as the next block of local steps, and an
// outer step uses the worker's own difference of this block and all others' of the block before
// (Kale et al., Eager Updates for Overlapped Communication and Computation in DiLoCo, arXiv
// 2502.12996).
//
//   every H steps, from y_i to x_i, in block k:
//     d_i,k = y_i - x_i;  g_i = 1/P (d_i,k + sum over j != i of d_j,k-1)
//     v_i = mu v_i + g_i;  y_i = y_i - lr_out (g_i + mu v_i);  x_i = y_i
//
// The equations are restated from the paper's description; the terms of block -1 are 0. Models stay
// apart: by the worker's own share of its last difference without momentum, and likewise with it,
// because older shares cancel. Each worker computes g_i from the mean of the block before, which
// arrives during this block: g_i = mean_j d_j,k-1 + 1/P (d_i,k - d_i,k-1).
//
// Messages and bytes per rank and average, for a model of S bytes and a ring: 2(P-1) messages,
// 2(P-1)/P S bytes, which have H steps. If weights are exchanged in buckets (option `bucket`), each
// bucket takes 2(P-1) messages, one bucket after another. Memory: four more models.

#include "algorithms/entries.h"
#include "algorithms/execution/outer_momentum.h"
#include "algorithms/options.h"

namespace trigram::algorithm::eager_diloco {
namespace {

struct Options {
  Execution execution;
  std::int64_t sync_every = 100;
  NesterovOuter outer;
  AllreduceSpec allreduce;
};

void train(Context ctx, Run& run, const Options& options) {
  const OuterStep outer = options.outer.step();
  const Tensor weights = run.workload.weights();
  const Tensor momentum = run.state.zeros_like(ctx, "momentum", weights),
               own = run.state.zeros_like(ctx, "own", weights);
  const float share = 1.0f / static_cast<float>(ctx.size());
  Device& device = *ctx.device;
  train_in_late_blocks(ctx, run, options.sync_every, full_average(options.allreduce),
                       [&](const LateBlock& block) {
                         device.axpby(-share, own, 1, block.mean);
                         device.axpby(share, block.difference, 1, block.mean);
                         outer_step(device, outer, block.mean, block.start, momentum);
                         device.copy(own, block.difference);
                       });
}

ExchangeSchedule schedule(const Options& options, const Layout&) {
  return late_schedule(options.sync_every);
}

}  // namespace

AlgorithmEntry eager_diloco_entry() {
  return algorithm_entry(
      {.name = "eager_diloco",
       .doc = "DiLoCo whose outer steps use other workers' changes of the block before",
       .trigram = kSyncFullPrecisionCentralised,
       .execution_options = "FH",
       .source = "Kale et al., Eager Updates, arXiv 2502.12996",
       .exchanges_weights = true,
       .synchronizes = false,
       .own_models = true},
      train,
      FieldTable<Options>{}
          .field("sync_every", &Options::sync_every, integer(1), "H: steps between averages")
          .include(&Options::outer, nesterov_outer_fields())
          .field("allreduce", &Options::allreduce, allreduce_kind(), "Algorithm of the allreduce"),
      {.schedule = schedule});
}

}  // namespace trigram::algorithm::eager_diloco
