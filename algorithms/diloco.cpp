// DiLoCo: long blocks of local steps, after each of which an outer optimizer takes the change of
// the average model as its gradient (Douillard et al., arXiv 2311.08105).
//
//   every H steps, from x_0 to the exact average x_H:
//     d = x_0 - x_H;  v = mu v + d;  x_0 = x_0 - lr_out (d + mu v);  x_i = x_0
//
// The outer optimizer is SGD with Nesterov's momentum in PyTorch's form. The inner optimizer is
// AdamW in the paper; here it is the experiment's optimizer. Its state stays local. With a quorum,
// an average does not wait for late workers (membership/group_average.h), as in Decoupled DiLoCo
// (arXiv 2604.21428), and training goes on without workers that fail.
//
// Messages and bytes per rank and average, for a model of S bytes and a ring: 2(P-1) messages,
// 2(P-1)/P S bytes. If weights are exchanged in buckets (option `bucket`), each bucket takes 2(P-1)
// messages, one bucket after another. Memory: two more models.

#include "algorithms/entries.h"
#include "algorithms/execution/outer_momentum.h"
#include "algorithms/options.h"

namespace trigram::algorithm::diloco {
namespace {

struct Options {
  Execution execution;
  std::int64_t sync_every = 500;
  double outer_lr = 0.7;
  double outer_momentum = 0.9;
  AllreduceSpec allreduce;
  Quorum quorum;
};

void train(Context ctx, Run& run, const Options& options) {
  const OuterStep outer{.momentum = static_cast<float>(options.outer_momentum),
                        .lr = static_cast<float>(options.outer_lr),
                        .nesterov = true};
  const auto average = [&options](std::vector<int> members) {
    return average_among(std::move(members), options.allreduce);
  };
  if (options.quorum.workers > 0)
    return train_with_quorum(ctx, run, options.sync_every, options.quorum, average, &outer);
  train_in_blocks(ctx, run, options.sync_every, options.allreduce,
                  [outer](float) { return outer; });
}

}  // namespace

AlgorithmEntry diloco_entry() {
  return algorithm_entry(
      {.name = "diloco",
       .doc = "Long blocks of local steps, then an outer step of SGD with Nesterov's momentum",
       .trigram = kSyncFullPrecisionCentralised,
       .execution_options = "FH",
       .source = "Douillard et al., DiLoCo, arXiv 2311.08105",
       .exchanges_weights = true},
      train,
      FieldTable<Options>{}
          .field("sync_every", &Options::sync_every, integer(1), "H: steps between averages")
          .field("outer_lr", &Options::outer_lr, number(0, 1e3), "Learning rate of outer steps")
          .field("outer_momentum", &Options::outer_momentum, number(0, 1, Open::above),
                 "mu: share of the outer momentum kept")
          .field("allreduce", &Options::allreduce, allreduce_kind(), "Algorithm of the allreduce")
          .include(&Options::quorum, quorum_fields()),
      {.schedule = quorum_schedule<Options>,
       .check =
           [](const Options& options, const Layout& layout, const std::string& pointer) {
             check_quorum(options.quorum, options.execution, layout, pointer);
           },
       .dispensable =
           [](const Options& options, const Layout& layout) {
             return options.quorum.workers > 0 ? all_ranks(layout) : Workers{};
           }});
}

}  // namespace trigram::algorithm::diloco
