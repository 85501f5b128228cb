// DSGD-AAU, decentralised SGD with adaptive asynchronous updates (arXiv 2306.06559).
//
// Each worker i repeats:
//
//   z_i = x_i - lr U(g_i(x_i))                  a local step
//   wait for the end of an iteration k
//   x_i = sum over j in N_i(k) and i of P_ij z_j
//
// N(k) is the set of workers that wait when iteration k ends. N_i(k) is the set of i's neighbours
// in N(k), and p_i is their number. P_ij = 1 / (1 + max(p_i, p_j)), and P_ii is 1 minus the sum of
// the other P_ij. P is doubly stochastic, so averaging preserves the mean model. Workers outside
// N(k) continue to compute.
//
// Iteration k ends when an edge of the graph between two waiting workers is accepted. An edge is
// accepted if the edges accepted before do not already connect its two ends, directly or through
// other workers (the paper's Pathsearch). When accepted edges connect all workers, the set of
// accepted edges is cleared. So from time to time the other workers wait for a slow worker, and
// every worker takes part. Rank 0 tracks the waiting workers and the accepted edges, by control
// messages.
//
// The paper leaves some choices. Here all edges that can be accepted when a worker starts to wait
// are accepted. An edge between two connected sets of workers can also be accepted; otherwise such
// sets would never be joined. After its last step a worker stays in the waiting set and keeps
// averaging; otherwise its neighbours might wait for ever. We restate the equations here and do not
// quote numbers of the paper.
//
// Messages and bytes per rank and iteration in which it averages, for a model of S bytes: one
// message of S bytes to and from each neighbour in N(k), all at once; none if no neighbour waits.
// Memory: one additional model per such neighbour while they are averaged.

#include <memory>

#include "algorithms/asynchronous/group_scheduler.h"
#include "algorithms/entries.h"
#include "algorithms/execution/steps.h"
#include "algorithms/peers/registry.h"
#include "algorithms/primitives/primitives.h"

namespace trigram::algorithm::dsgd_aau {
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
       .doc = "A worker waits after each step until an average can connect workers that were not "
              "connected before, then averages with its waiting neighbours",
       .trigram = kAsyncFullPrecisionDecentralised,
       .execution_options = "",
       .source = "DSGD-AAU, arXiv 2306.06559",
       .waits_across_steps = true},
      train,
      FieldTable<Options>{}.field("graph", &Options::graph, peer_graph_kind(),
                                  "Graph of the pairs of workers that may average; must be "
                                  "undirected and the same in every step"),
      {.check = check_graph<Options>("dsgd_aau", {.undirected = true, .fixed = true})});
}

}  // namespace trigram::algorithm::dsgd_aau
