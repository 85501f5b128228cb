// SGP: stochastic gradient push (Assran et al., arXiv 1811.10792). Decentralised SGD on directed
// graphs, by push-sum.
//
//   every rank has x, a weight w, and z = x / w; at first w = 1
//   x = x - lr U(g(z))
//   (x, w) = sum over j, in-neighbours and the rank itself, of p_j (x_j, w_j)
//   z = x / w
//
// with p_j = 1 / (1 + out-neighbours of j): column-stochastic, whatever the graph, so the sums of x
// and of w over all ranks are kept, and z comes to the mean of x even where ranks receive from more
// peers than others. On regular graphs w stays 1. Weight decay acts on x. The paper's graphs are
// one_peer_exponential (one peer) and n_peer_exponential (d peers).
//
// Per rank and iteration, d peers: d messages of S + 4 bytes (w travels with the model), after the
// step. Memory: one model beside the weights, and d more while they are summed.

#include "algorithms/entries.h"
#include "algorithms/execution/execution.h"
#include "algorithms/peers/registry.h"
#include "algorithms/primitives/primitives.h"

namespace trigram {
namespace {

struct Options {
  Execution execution;
  PeerGraphSpec graph{"one_peer_exponential"};
};

class Sgp final : public Algorithm {
 public:
  explicit Sgp(const Options& options) : options_(options) {}

  void train(Context ctx, Run& run) override {
    Device& device = *ctx.device;
    const Tensor z = run.workload.weights();
    const std::size_t n = z.numel();
    const Tensor message = device.empty(n + 1, DType::f32, z.priced_numel() + 1);
    const Tensor x = message.slice(0, n, z.priced_numel()), w = message.slice(n, 1, 1);
    device.copy(x, z);
    device.fill(w, 1);
    const std::shared_ptr<const PeerGraph> graph = make_peer_graph(options_.graph, run.seed);
    auto comm = ctx.stream->fork("comm");
    const auto push = across(run.execution, [graph](Context c, const Tensor& xw, Slot slot) {
      push_sum(c, xw, graph->peers(c.rank(), c.size(), slot.step));
    });
    for ([[maybe_unused]] long t : run.steps) {
      compute_gradients(ctx, run);  // at z, which the workload holds
      device.copy(z, x);            // but the optimiser steps from x
      optimizer_step(ctx, run);
      device.copy(x, z);
      exchange_on(*comm, ctx, run, message, push);
      const double weight = device.norm2(w);  // w > 0; brings it to the host
      device.axpby(static_cast<float>(1 / weight), x, 0, z);
    }
  }

  std::optional<Cycle> cycle(const Layout& layout) const override {
    return cycle_of(*make_peer_graph(options_.graph), exchanging(options_.execution, layout));
  }

 private:
  Options options_;
};

void check(const Options& options, const Layout& layout, const std::string& pointer) {
  require_graph(options.graph, {}, "sgp", exchanging(options.execution, layout),
                pointer + "/graph");
}

}  // namespace

AlgorithmEntry sgp_entry() {
  return algorithm_entry<Sgp>(
      {.name = "sgp",
       .doc = "Stochastic gradient push: weights are summed along a directed graph",
       .trigram = kSyncFullDecentralised,
       .execution_options = "H",
       .source = "Assran et al., arXiv 1811.10792"},
      FieldTable<Options>{}.field("graph", &Options::graph, peer_graph_kind(),
                                  "Who sends to whom; directed or not"),
      check);
}

}  // namespace trigram
