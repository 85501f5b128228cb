// DiLoCoX: DiLoCo whose outer steps come one block late, along low-rank approximations of the mean
// difference with error feedback (Qi et al., arXiv 2506.21263).
//
//   every H steps, at the end of block k, from the model y, which is the same on all workers:
//     D = the average of block k-1, as far as it is known: 0 in the first block
//     begin  D_k = lowrank(mean over j of M_j),  M_i = y - x_i + e_i;  e_i = M_i - D_k
//     v = mu v + D;  y = y - lr_out (D + mu v);  x_i = y
//
// lowrank is a power iteration, as in `powersgd`: P = orthonormalise(mean_j M_j Q), Q = mean_j
// M_j^T P, D = P Q^T. With a codec, such as int4 in the paper, the factors P and Q are averaged by
// a coded scatter-reduce; the errors of the codes are part of e_i. The paper also changes the rank
// and H during the run; this rule is not implemented, since no text or code of it was at hand. Its
// pipeline parallelism inside a worker is outside data-parallel training.
//
// Messages and bytes per rank and average, for a x b elements: two allreduces, of 4ra and 4rb
// bytes; with rings, 4(P-1) messages and 2(P-1)/P 4r(a + b) bytes, which have H steps. If weights
// are exchanged in buckets (option `bucket`), so for every bucket. Memory: four more models.

#include "algorithms/entries.h"
#include "algorithms/execution/low_rank_average.h"
#include "algorithms/execution/outer_momentum.h"
#include "algorithms/options.h"

namespace trigram::algorithm::dilocox {
namespace {

struct Options {
  Execution execution;
  std::int64_t sync_every = 100;
  NesterovOuter outer;
  LowRank low_rank = {.rank = 32};
};

void train(Context ctx, Run& run, const Options& options) {
  const OuterStep outer = options.outer.step();
  const Tensor momentum = run.state.zeros_like(ctx, "momentum", run.workload.weights());
  train_in_late_blocks(ctx, run, options.sync_every,
                       low_rank_average(options.low_rank, run.seed, run.state),
                       [&](const LateBlock& block) {
                         outer_step(*ctx.device, outer, block.mean, block.start, momentum);
                       });
}

ExchangeSchedule schedule(const Options& options, const Layout&) {
  return late_schedule(options.sync_every);
}

}  // namespace

AlgorithmEntry dilocox_entry() {
  return algorithm_entry(
      {.name = "dilocox",
       .doc = "DiLoCo with outer steps one block late, along low-rank averages with error feedback",
       .trigram = kSyncLowPrecisionCentralised,
       .execution_options = "FH",
       .source = "Qi et al., DiLoCoX, arXiv 2506.21263",
       .exchanges_weights = true,
       .synchronizes = false},
      train,
      FieldTable<Options>{}
          .field("sync_every", &Options::sync_every, integer(1), "H: steps between averages")
          .include(&Options::outer, nesterov_outer_fields())
          .include(&Options::low_rank,
                   low_rank_fields("difference")
                       .field("codec", &LowRank::codec, optional_codec_kind(),
                              "Codec of the factors on the wire; none: full precision")),
      {.schedule = schedule});
}

}  // namespace trigram::algorithm::dilocox
