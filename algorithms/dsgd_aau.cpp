// DSGD-AAU, decentralised SGD with adaptive asynchronous updates (arXiv 2306.06559).
//
//   worker i: z_i = x_i - lr U(g_i(x_i)), then waits for the end of an iteration k
//   k ends when an edge (i, j) of the graph between two waiting workers is accepted: one that
//     connects what the edges accepted so far do not; N(k) are all workers that wait then
//   i in N(k): x_i = sum over j, neighbours of i in N(k), and i itself, of P_ij z_j,
//     P_ij = 1 / (1 + max(p_i, p_j)), p_i neighbours of i in N(k); P_ii is what is left to 1
//
// Workers outside N(k) go on computing. When accepted edges connect all workers, none of them
// counts any more, so a slow worker is waited for once in a while, and nobody is left out (the
// paper's Pathsearch). Our reading of it: all edges that can be accepted at once are, and an edge
// between two parts that are connected in themselves counts, or such parts would never meet. A
// worker that has made its last step counts as waiting and goes on averaging, or others might wait
// in vain. Equations restated here; numbers of the paper are not quoted. Rank 0 keeps the book, on
// the control plane. P is doubly stochastic: the mean model goes down the mean of all gradients.
//
// Steps and bytes per rank and iteration of its own, S bytes of model: a message each way with
// every neighbour in N(k), all at once, S bytes each; none where no neighbour is waiting. Memory:
// as many models as there are such neighbours, while they are averaged.

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
       .doc = "Workers average with waiting neighbours once that connects workers that were not "
              "connected",
       .trigram = kAsyncFullDecentralised,
       .execution_options = "",
       .source = "DSGD-AAU, arXiv 2306.06559",
       .waits_across_steps = true},
      train,
      FieldTable<Options>{}.field(
          "graph", &Options::graph, peer_graph_kind(),
          "Peer graph of workers that may average; must be undirected and fixed"),
      {.check = check_graph<Options>("dsgd_aau", {.undirected = true, .fixed = true})});
}

}  // namespace trigram
