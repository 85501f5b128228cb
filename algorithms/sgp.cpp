// SGP: stochastic gradient push (Assran et al., arXiv 1811.10792). Decentralised SGD on directed
// graphs, by push-sum.
//
//   every rank has x, a weight w, and z = x / w; at first w = 1
//   x = x - lr U(g(z))
//   (x, w) = sum over j, in-neighbours and the rank itself, of p_j (x_j, w_j)
//   z = x / w
//
// with p_j = 1 / (1 + number of out-neighbours of j). The matrix of the p_j is column-stochastic
// for every graph, so the sums of x and of w over all ranks are conserved, and z converges to the
// mean of x even if some ranks receive from more peers than others. On regular graphs w stays 1.
// Weight decay acts on x. The paper's graphs are one_peer_exponential (one peer) and
// n_peer_exponential (d peers).
//
// Messages and bytes per rank and iteration, with d peers: d messages of S + 4 bytes (w travels
// with the model), after the step. If weights are exchanged in buckets (option `bucket`), there are
// d messages of S_b + 4 bytes for each bucket. Buckets are exchanged one after the other, each as
// soon as its gradient is complete. Memory: one model beside the weights, and d more while they are
// summed.

#include "algorithms/entries.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/host_passes.h"
#include "algorithms/execution/parts.h"
#include "algorithms/peers/registry.h"
#include "algorithms/primitives/primitives.h"
#include "algorithms/primitives/push_sum.h"

namespace trigram::algorithm::sgp {
namespace {

struct Options {
  Execution execution;
  bool through_host = false;
  PeerGraphSpec graph{"one_peer_exponential"};
};

void train(Context ctx, Run& run, const Options& options) {
  Device& device = *ctx.device;
  const std::vector<Part> parts = parts_of(run);
  std::vector<PushSumState> states;
  for (const Part& part : parts)
    states.emplace_back(device, part.weights, run.state.child(fmt::format("part {}", part.index)));
  const std::shared_ptr<const PeerGraph> graph = make_peer_graph(options.graph, run.seed);
  auto comm = ctx.stream->fork("comm");
  const HostPasses host(options.through_host);
  const auto push = across(run.execution, [graph, host](Context c, const Tensor& xw, Slot slot) {
    const Peers peers = graph->peers(c.rank(), c.size(), slot.step);
    push_sum(c, xw, peers);
    host.add(xw, peers.receive_from.size());
  });
  for ([[maybe_unused]] long t : run.steps) {
    std::vector<std::shared_ptr<Work>> pushed;
    // Computes gradients at z, which the workload's weights hold.
    compute_by_part(ctx, run, [&](const Part& part) {
      const PushSumState& state = states[static_cast<std::size_t>(part.index)];
      device.copy(part.weights, state.x);  // the optimizer steps from x
      optimizer_step(ctx, run, part);
      device.copy(state.x, part.weights);
      pushed.push_back(begin_exchange(*comm, ctx, run, state.xw, part.index, push));
    });
    for (std::size_t i = 0; i < parts.size(); ++i) {
      ctx.stream->wait(*pushed[i]);
      states[i].estimate(device, parts[i].weights);
    }
    host.charge(ctx);
  }
}

}  // namespace

AlgorithmEntry sgp_entry() {
  return algorithm_entry(
      {.name = "sgp",
       .doc = "Stochastic gradient push: weights are summed along a directed graph",
       .trigram = kSyncFullPrecisionDecentralised,
       .execution_options = "FH",
       .source = "Assran et al., arXiv 1811.10792",
       .exchanges_weights = true},
      train,
      FieldTable<Options>{}
          .field("through_host", &Options::through_host, boolean(), kThroughHost)
          .field("graph", &Options::graph, peer_graph_kind(),
                 "Peer graph of the pushes; may be directed"),
      {.schedule = schedule_of_graph<Options>, .check = check_graph<Options>("sgp")});
}

}  // namespace trigram::algorithm::sgp
