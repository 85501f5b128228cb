// Hierarchical local SGD: workers average often inside their node and rarely over all nodes (Lin et
// al., arXiv 1808.07217).
//
//   x_i = x_i - lr U(g_i(x_i))
//   every H_1 steps:      x_i = mean of x_j over the workers j of i's node
//   every H_1 H_2 steps:  x_i = mean of x_j over all workers j, instead
//
// With H_2 = 1 this is local SGD. The state of the optimizer stays local. We restate the equations
// here and do not quote numbers of the paper.
//
// Messages and bytes, for a model of S bytes, m nodes and rings: inside a node of w workers, 2(w-1)
// messages (per bucket) and 2(w-1)/w S bytes per rank and average. Averages over all workers are
// hierarchical by default, so node leaders send 2(m-1) messages and 2(m-1)/m S bytes to other nodes
// each time, which is 2(m-1)/m S / (H_1 H_2) bytes per node and step.

#include "algorithms/entries.h"
#include "algorithms/execution/averages.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/parts.h"
#include "algorithms/options.h"

namespace trigram::algorithm::hierarchical_local_sgd {
namespace {

struct Options {
  Execution execution{.hierarchical = true};
  std::int64_t node_every = 4;
  std::int64_t all_every = 4;
  AllreduceSpec allreduce;
};

void train(Context ctx, Run& run, const Options& options) {
  auto comm = ctx.stream->fork("comm");
  const Exchange average = full_average(options.allreduce);
  const Exchange over_all = across(run.execution, average);
  const Exchange in_node = inside_nodes(run.execution, average);
  for (long t : run.steps) {
    const bool node_due = (t + 1) % options.node_every == 0;
    const bool all_due = (t + 1) % (options.node_every * options.all_every) == 0;
    local_step(ctx, run, *comm, all_due ? over_all : in_node, node_due);
  }
}

/// If every node has one worker, only the averages over all nodes are exchanges.
ExchangeSchedule schedule(const Options& options, const Layout& layout) {
  const long cycle = options.node_every * options.all_every;
  const bool flat = layout.ranks() == static_cast<int>(layout.nodes().size());
  return {.cycle = Cycle{.steps = cycle}, .interval_steps = flat ? cycle : options.node_every};
}

}  // namespace

AlgorithmEntry hierarchical_local_sgd_entry() {
  return algorithm_entry(
      {.name = "hierarchical_local_sgd",
       .doc = "Workers step alone, average their models inside the node every few steps, and over "
              "all nodes less often",
       .trigram = kSyncFullPrecisionCentralised,
       .execution_options = "FH",
       .source = "Lin et al., Don't Use Large Mini-Batches, Use Local SGD, arXiv 1808.07217",
       .exchanges_weights = true,
       .own_models = true},
      train,
      FieldTable<Options>{}
          .field("node_every", &Options::node_every, integer(1, 1 << 20),
                 "H_1: steps between averages inside the node")
          .field(
              "all_every", &Options::all_every, integer(1, 1 << 20),
              "H_2: averages inside the node per average over all workers, which takes the place "
              "of one")
          .field("allreduce", &Options::allreduce, allreduce_kind(), "Algorithm of the allreduce"),
      {.schedule = schedule});
}

}  // namespace trigram::algorithm::hierarchical_local_sgd
