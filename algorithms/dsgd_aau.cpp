// DSGD-AAU, decentralised SGD with adaptive asynchronous updates (arXiv 2306.06559).
//
//   worker i: z_i = x_i - lr U(g_i(x_i)), then waits for the end of an iteration k
//   k ends when an edge (i, j) of the graph between two waiting workers is accepted; an edge is
//     accepted if the edges accepted so far do not connect i and j; N(k) is the set of all workers
//     that wait at that time
//   i in N(k): x_i = sum of P_ij z_j over i itself and all neighbours j of i in N(k), where
//     P_ij = 1 / (1 + max(p_i, p_j)), p_i is the number of neighbours of i in N(k), and P_ii makes
//     the row sum to 1
//
// Workers outside N(k) continue to compute. When the accepted edges connect all workers, the set of
// accepted edges is cleared. Hence the others wait for a slow worker only once in a while, and no
// worker is left out (the paper's Pathsearch).
//
// Where the paper leaves a choice, this implementation accepts all edges that can be accepted at
// the same time. It also accepts an edge between two parts each of which is already connected;
// otherwise such parts would never be joined. A worker that has made its last step counts as
// waiting and continues to average; otherwise other workers might wait for it forever. We restate
// the equations here and do not quote numbers of the paper. Rank 0 keeps the set of accepted edges,
// and ranks communicate with it on the control plane. P is doubly stochastic, so the mean model
// takes a step along the mean of all gradients.
//
// Steps and bytes per rank and per iteration of its own, for a model of S bytes: one message of S
// bytes each way with every neighbour in N(k), all in one batch; none if no neighbour is waiting.
// Memory: as many models as there are such neighbours, while they are averaged.

#include <memory>

#include "algorithms/asynchronous/group_scheduler.h"
#include "algorithms/entries.h"
#include "algorithms/execution/steps.h"
#include "algorithms/peers/registry.h"
#include "algorithms/primitives/primitives.h"

namespace trigram {
namespace {

struct Options {
  Execution execution;
  PeerGraphSpec graph;
};

void train(Context ctx, Run& run, const Options& options) {
  auto comm = ctx.stream->fork("comm");
  GroupScheduler groups(ctx, *make_peer_graph(options.graph, run.seed));
  const auto mix = [&](const Peers& peers) {
    if (peers.send_to.empty()) return;
    exchange_on(*comm, ctx, run, run.workload.weights(),
                [peers](Context c, const Tensor& x, Slot) { d_fp_s(c, x, peers); });
  };
  for (long t : run.steps) {
    local_step(ctx, run);
    if (t + 1 < run.steps.count()) mix(groups.join(ctx));
    else groups.join_until_end(ctx, mix);
  }
}

}  // namespace

AlgorithmEntry dsgd_aau_entry() {
  return algorithm_entry(
      {.name = "dsgd_aau",
       .doc = "Workers average with neighbours that wait, and wait until that connects new ones",
       .trigram = kAsyncFullDecentralised,
       .execution_options = "",
       .source = "DSGD-AAU, arXiv 2306.06559",
       .waits_across_steps = true},
      train,
      FieldTable<Options>{}.field("graph", &Options::graph, peer_graph_kind(),
                                  "Who may average with whom; undirected and fixed"),
      {.check = check_graph<Options>("dsgd_aau", {.undirected = true, .fixed = true})});
}

}  // namespace trigram
