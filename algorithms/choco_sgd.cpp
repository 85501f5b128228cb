// CHOCO-SGD: decentralised SGD with arbitrary compression (Koloskova et al., arXiv 1902.00340).
//
//   x_i = x_i - lr U(g_i(x_i))                                 the local step
//   r_i = r_i + Q(x_i - r_i), r_j = r_j + Q(x_j - r_j)         the replicas
//   x_i = x_i + gamma sum_j W_ij (r_j - r_i)                   the gossip step
//
// W is symmetric and fixed. What Q drops stays in x_i - r_i and is encoded again in the next step,
// so a coarse Q works if gamma is small enough. Q must be a contraction: |z - Q(z)| < |z| in
// expectation. The paper starts the replicas at 0; here they start as the initial weights, which
// are equal on all ranks.
//
// After the optimizer's step, each rank sends the encoded difference Q(x_i - r_i) to each of its d
// peers, as one message of C bytes. Messages and bytes per rank and iteration: d messages and d C
// bytes. Memory: d + 1 models beside the weights.

#include "algorithms/entries.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"
#include "algorithms/peers/registry.h"
#include "algorithms/primitives/replicas.h"
#include "core/codecs/registry.h"

namespace trigram::algorithm::choco_sgd {
namespace {

struct Options {
  Execution execution;
  PeerGraphSpec graph;
  CodecSpec codec;
  double gamma = 0.5;
};

void train(Context ctx, Run& run, const Options& options) {
  const Tensor weights = run.workload.weights();
  const auto replicas = std::make_shared<Replicas>(ctx, run, options.graph);
  auto comm = ctx.stream->fork("comm");
  const auto gossip = across(
      run.execution, [replicas, options, seed = run.seed](Context c, const Tensor& x, Slot slot) {
        const auto gamma = static_cast<float>(options.gamma);
        const Tensor z = c.device->copy_of(x);
        c.device->axpby(-1, replicas->own(), 1, z);
        replicas->advance(c, z, *c.device->codec(options.codec, codec_key(c, seed, slot)));
        c.device->axpby(-gamma, replicas->own(), 1, x);
        replicas->add_mixed(c, gamma, x);
      });
  for ([[maybe_unused]] long t : run.steps) {
    local_step(ctx, run);
    exchange_on(*comm, ctx, run, weights, gossip);
  }
}

}  // namespace

AlgorithmEntry choco_sgd_entry() {
  return algorithm_entry(
      {.name = "choco_sgd",
       .doc = "Decentralised SGD that averages replicas of the peers' models; ranks send only "
              "coded differences, which update the replicas",
       .trigram = kSyncLowPrecisionDecentralised,
       .execution_options = "H",
       .source = "Koloskova et al., arXiv 1902.00340, 1907.09356"},
      train,
      FieldTable<Options>{}
          .field("graph", &Options::graph, peer_graph_kind(),
                 "Peer graph of the averages; must be undirected and fixed")
          .field("codec", &Options::codec, contraction_kind(),
                 "Codec of the differences on the wire")
          .field("gamma", &Options::gamma, number(0, 1, Open::below), "Step size of the gossip"),
      {.check = check_graph<Options>("choco_sgd", {.undirected = true, .fixed = true})});
}

}  // namespace trigram::algorithm::choco_sgd
