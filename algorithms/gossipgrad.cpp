// GossipGraD: every worker averages its gradient with that of one other worker (Daily et al., arXiv
// 1803.05880).
//
//   g = (g_i(x_i) + g_j(x_j)) / 2;  x_i = x_i - lr U(g)          j is the partner of the step
//
// All ranks are arranged in a random order. The partner is 1, 2, 4, ... positions behind in turn;
// after each such round the order is shuffled again. As in PyTorch's torchdistx, models are never
// averaged, so they drift apart as gradients differ: after an epoch of configs/convergence.json the
// accuracy of their mean is 2.6 points below gradient_allreduce (docs/convergence.md).
//
// Messages and bytes per rank and iteration, for S bytes of gradient: 1 message per bucket, S bytes
// in all.

#include "algorithms/entries.h"
#include "algorithms/execution/steps.h"
#include "algorithms/peers/registry.h"
#include "algorithms/primitives/primitives.h"

namespace trigram::algorithm::gossipgrad {
namespace {

struct Options {
  Execution execution;
  PeerGraphSpec graph{"shuffled_exponential"};
};

void train(Context ctx, Run& run, const Options& options) {
  const std::shared_ptr<const PeerGraph> graph = make_peer_graph(options.graph, run.seed);
  train_on_gradients(ctx, run, [graph](Context c, const Tensor& g, Slot slot) {
    d_fp_s(c, g, graph->peers(c.rank(), c.size(), slot.step));
  });
}

}  // namespace

AlgorithmEntry gossipgrad_entry() {
  return algorithm_entry(
      {.name = "gossipgrad",
       .doc = "Workers average gradients with one other worker, which changes every step",
       .trigram = kSyncFullPrecisionDecentralised,
       .execution_options = "OFH",
       .source = "Daily et al., GossipGraD, arXiv 1803.05880"},
      train,
      FieldTable<Options>{}.field("graph", &Options::graph, peer_graph_kind(),
                                  "Peer graph along which gradients are averaged"),
      {.schedule = schedule_of_graph<Options>, .check = check_graph<Options>("gossipgrad")});
}

}  // namespace trigram::algorithm::gossipgrad
