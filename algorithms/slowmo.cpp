// SlowMo: local SGD whose averages are followed by a step of a slow outer momentum (Wang et al.,
// arXiv 1910.00643).
//
//   every H steps, from x_0 to the exact average x_H:
//     u = beta u + (x_0 - x_H) / lr;  x_0 = x_0 - alpha lr u;  x_i = x_0
//
// lr is the inner learning rate at that step. The implementation stores v = lr u, which also works
// for lr = 0 or nearly 0:
//
//     v = beta lr / lr_before v + (x_0 - x_H);  x_0 = x_0 - alpha v
//
// After a step with lr = 0, v starts from 0. With beta = 0 and alpha = 1 the method is local SGD.
//
// Messages and bytes per rank and average, for a model of S bytes and a ring: 2(P-1) messages,
// 2(P-1)/P S bytes. If weights are exchanged in buckets (option `bucket`), each bucket takes 2(P-1)
// messages, one bucket after another. Memory: two more models.

#include <algorithm>
#include <limits>
#include <utility>

#include "algorithms/entries.h"
#include "algorithms/execution/outer_momentum.h"
#include "algorithms/options.h"

namespace trigram::algorithm::slowmo {
namespace {

struct Options {
  Execution execution;
  std::int64_t sync_every = 48;
  double slow_momentum = 0.5;
  double slow_lr = 1;
  AllreduceSpec allreduce;
};

/// The factor of the old v, which is beta lr / lr_before.
float momentum_factor(const Options& options, float lr, float lr_before) {
  if (lr_before == 0) return 0;
  const double ratio = static_cast<double>(lr) / static_cast<double>(lr_before);
  constexpr double kLargest = std::numeric_limits<float>::max();
  return static_cast<float>(std::min(options.slow_momentum * ratio, kLargest));
}

void train(Context ctx, Run& run, const Options& options) {
  float& lr_before = run.state.value<float>("lr before");
  train_in_blocks(ctx, run, options.sync_every, full_average(options.allreduce), [&](float lr) {
    return OuterStep{.momentum = momentum_factor(options, lr, std::exchange(lr_before, lr)),
                     .lr = static_cast<float>(options.slow_lr)};
  });
}

}  // namespace

AlgorithmEntry slowmo_entry() {
  return algorithm_entry(
      {.name = "slowmo",
       .doc = "Local SGD with a slow momentum over its averages",
       .trigram = kSyncFullPrecisionCentralised,
       .execution_options = "FH",
       .source = "Wang et al., SlowMo, arXiv 1910.00643",
       .exchanges_weights = true},
      train,
      FieldTable<Options>{}
          .field("sync_every", &Options::sync_every, integer(1), "Steps between averages")
          .field("slow_momentum", &Options::slow_momentum, number(0, 1, Open::above),
                 "beta: share of the slow momentum kept")
          .field("slow_lr", &Options::slow_lr, number(0, 1e3), "alpha: slow learning rate")
          .field("allreduce", &Options::allreduce, allreduce_kind(), "Algorithm of the allreduce"));
}

}  // namespace trigram::algorithm::slowmo
