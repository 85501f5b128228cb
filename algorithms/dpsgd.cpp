// D-PSGD: decentralised parallel SGD over any undirected peer graph (Lian et al., arXiv
// 1705.09056).
//
//   x_i = sum_j W_ij x_j - lr U(g_i(x_i))
//
// The gradient is taken at the old local weights, so the exchange of weights overlaps with the
// whole iteration.
//
// W is symmetric and doubly stochastic; it may change from step to step. The paper's graph is the
// ring. The model travels as one message of S bytes; per rank and iteration, with d peers: d
// messages and d S bytes, all in one batch. If weights are exchanged in buckets (option `bucket`),
// each bucket is exchanged as soon as its gradient is complete, one bucket after another, with d
// messages per bucket. Memory: one model beside the weights, and d more while they are mixed.

#include "algorithms/entries.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/host_passes.h"
#include "algorithms/execution/steps.h"
#include "algorithms/peers/registry.h"
#include "algorithms/primitives/primitives.h"

namespace trigram::algorithm::dpsgd {
namespace {

struct Options {
  Execution execution;
  bool through_host = false;
  PeerGraphSpec graph;
};

void train(Context ctx, Run& run, const Options& options) {
  const Tensor copy = ctx.device->empty_like(run.workload.weights());
  const std::shared_ptr<const PeerGraph> graph = make_peer_graph(options.graph, run.seed);
  auto comm = ctx.stream->fork("comm");
  const HostPasses host(options.through_host);
  const auto mix = across(run.execution, [graph, host](Context c, const Tensor& x, Slot slot) {
    const Peers peers = graph->peers(c.rank(), c.size(), slot.step);
    d_fp_s(c, x, peers);
    host.add(x, peers.receive_from.size());
  });
  for ([[maybe_unused]] long t : run.steps) {
    model_step(ctx, run, *comm, copy, mix);
    host.charge(ctx);
  }
}

}  // namespace

AlgorithmEntry dpsgd_entry() {
  return algorithm_entry(
      {.name = "dpsgd",
       .doc = "Decentralised parallel SGD over a peer graph: weights are averaged with neighbours",
       .trigram = kSyncFullPrecisionDecentralised,
       .execution_options = "OFH",
       .source = "Lian et al., arXiv 1705.09056",
       .exchanges_weights = true},
      train,
      FieldTable<Options>{}
          .field("through_host", &Options::through_host, boolean(), kThroughHost)
          .field("graph", &Options::graph, peer_graph_kind(),
                 "Peer graph of the averages; must be undirected"),
      {.schedule = schedule_of_graph<Options>,
       .check = check_graph<Options>("dpsgd", {.undirected = true})});
}

}  // namespace trigram::algorithm::dpsgd
