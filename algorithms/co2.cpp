// CO2: local SGD with an outer momentum whose averages take as long as the next block of local
// steps (Sun et al., arXiv 2401.16265).
//
//   every H steps, at the end of block k, from the model y, which is the same on all workers:
//     d = mean over j of the differences (y - x_j) of block k-1;  begin to average those of block k
//     m = clip(beta m + d / Lambda, phi);  y = y - alpha m;  x_i = y
//     Lambda = 1 + |y_k - y_k-1| / |d|, or a constant
//
// The difference d is one block late: it was made at the model y_k-1, and is applied to y_k.
// Lambda, the penalty of this gap, is the distance between both models, relative to d, plus 1, as
// in Gap-Aware (Barkai et al., arXiv 1909.10802); the paper's own text was not at hand. The
// authors' code (weigao266/fairscale-CO2, gossip/co2.py at 55aaca5) divides by a constant,
// `gap_penalty`, and computes m with every element bounded by phi, but does not use it; the other
// rules and the defaults are its. The terms of the first block are 0, so that the workers begin
// their second block with y as it was.
//
// In the runs of docs/convergence.md the model is 2.2 points below gradient_allreduce, with outer
// momenta of 0.1 to 0.5: an epoch has only 14 blocks, and each moves the model one block late.
//
// |y_k - y_k-1| is alpha |m|. With alpha = 1, and without momentum, penalty and clipping, y moves
// by the mean difference of the block before.
//
// Messages and bytes per rank and average, for a model of S bytes and a ring: 2(P-1) messages,
// 2(P-1)/P S bytes, which have H steps. If weights are exchanged in buckets (option `bucket`), each
// bucket takes 2(P-1) messages, one bucket after another. Memory: three more models, and one while
// `clip` works.

#include <optional>

#include "algorithms/entries.h"
#include "algorithms/execution/outer_momentum.h"
#include "algorithms/options.h"

namespace trigram::algorithm::co2 {
namespace {

struct Options {
  Execution execution;
  std::int64_t sync_every = 48;
  double outer_lr = 1, outer_momentum = 0.5;
  std::optional<double> gap_penalty, clip;
  AllreduceSpec allreduce;
};

/// Bounds the elements of x by -bound and bound.
void clip_elements(Device& device, const Tensor& x, float bound) {
  const Tensor lowest = device.empty_like(x);
  device.fill(lowest, -bound);
  for (int side = 0; side < 2; ++side) {
    device.maximum(lowest, x);
    device.axpby(-1, x, 0, x);
  }
}

void train(Context ctx, Run& run, const Options& options) {
  Device& device = *ctx.device;
  const Tensor momentum = run.state.zeros_like(ctx, "momentum", run.workload.weights());
  const auto outer = [&](const LateBlock& block) {
    double gap = options.gap_penalty.value_or(1);
    if (!options.gap_penalty) {
      const double moved = options.outer_lr * device.norm2(momentum),
                   late = device.norm2(block.mean);
      if (late > 0) gap += moved / late;
    }
    device.axpby(static_cast<float>(1 / gap), block.mean,
                 static_cast<float>(options.outer_momentum), momentum);
    if (options.clip) clip_elements(device, momentum, static_cast<float>(*options.clip));
    device.axpby(-static_cast<float>(options.outer_lr), momentum, 1, block.start);
  };
  train_in_late_blocks(ctx, run, options.sync_every, full_average(options.allreduce), outer);
}

ExchangeSchedule schedule(const Options& options, const Layout&) {
  return late_schedule(options.sync_every);
}

}  // namespace

AlgorithmEntry co2_entry() {
  return algorithm_entry(
      {.name = "co2",
       .doc = "Local SGD with an outer momentum along averages of the block before",
       .trigram = kSyncFullPrecisionCentralised,
       .execution_options = "FH",
       .source = "Sun et al., CO2, arXiv 2401.16265",
       .exchanges_weights = true,
       .synchronizes = false},
      train,
      FieldTable<Options>{}
          .field("sync_every", &Options::sync_every, integer(1), "H: steps between averages")
          .field("outer_lr", &Options::outer_lr, number(0, 1e3),
                 "alpha: learning rate of outer steps")
          .field("outer_momentum", &Options::outer_momentum, number(0, 1, Open::above),
                 "beta: share of the outer momentum kept")
          .field("gap_penalty", &Options::gap_penalty, optional(number(1, 1e9)),
                 "Lambda: divides late differences; null: 1 plus the distance that the model has "
                 "moved since, relative to the difference")
          .field("clip", &Options::clip, optional(number(0, 1e9, Open::below)),
                 "phi: largest element of the outer momentum; null: no bound")
          .field("allreduce", &Options::allreduce, allreduce_kind(), "Algorithm of the allreduce"),
      {.schedule = schedule});
}

}  // namespace trigram::algorithm::co2
