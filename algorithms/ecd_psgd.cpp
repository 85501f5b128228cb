// ECD-PSGD: decentralised SGD with extrapolated, encoded models (Tang et al., arXiv 1803.06443).
//
//   y = sum_j W_ij r_j - lr U(g_i(x_i))                        the next x_i; t = 1, 2, 3, ...
//   z = (1 - t/2) x_i + t/2 y                                  an extrapolation
//   r_j = (1 - 2/t) r_j + 2/t Q(z_j), of all peers and i       the replicas
//   x_i = y
//
// W is symmetric and fixed. The replicas start as the initial weights, which are equal on all
// ranks. A replica differs from the model by a mean of the errors of Q. This mean is smaller than
// each error if Q is unbiased, which the paper's analysis assumes.
//
// After the optimizer's step, each rank sends the encoded extrapolation Q(z_i) to each of its d
// peers, as one message of C bytes. Messages and bytes per rank and iteration: d messages and d C
// bytes. Memory: d + 2 models beside the weights.

#include "algorithms/entries.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"
#include "algorithms/peers/registry.h"
#include "algorithms/primitives/replicas.h"

namespace trigram::algorithm::ecd_psgd {
namespace {

struct Options {
  Execution execution;
  PeerGraphSpec graph;
  CodecSpec codec{"qsgd"};
};

void train(Context ctx, Run& run, const Options& options) {
  const Tensor weights = run.workload.weights(), before = ctx.device->empty_like(weights);
  const auto replicas = std::make_shared<Replicas>(ctx, run, options.graph);
  auto comm = ctx.stream->fork("comm");
  // On entry x = x_i - lr U(g), and `before` holds x_i.
  const auto mix = across(run.execution, [replicas, before, codec = options.codec, seed = run.seed](
                                             Context c, const Tensor& x, Slot slot) {
    const auto t = static_cast<float>(slot.step + 1);
    c.device->axpby(-1, before, 1, x);
    replicas->add_mixed(c, 1, x);
    c.device->axpby(t / 2, x, 1 - t / 2, before);
    const auto code = c.device->codec(codec, codec_key(c, seed, slot));
    replicas->advance(c, before, *code, {.kept = 1 - 2 / t, .gain = 2 / t});
  });
  for ([[maybe_unused]] long t : run.steps) {
    ctx.device->copy(before, weights);
    local_step(ctx, run);
    exchange_on(*comm, ctx, run, weights, mix);
  }
}

}  // namespace

AlgorithmEntry ecd_psgd_entry() {
  return algorithm_entry(
      {.name = "ecd_psgd",
       .doc = "Decentralised SGD that exchanges coded extrapolations of the model",
       .trigram = kSyncLowPrecisionDecentralised,
       .execution_options = "H",
       .source = "Tang et al., arXiv 1803.06443"},
      train,
      FieldTable<Options>{}
          .field("graph", &Options::graph, peer_graph_kind(),
                 "Peer graph of the averages; must be undirected and fixed")
          .field("codec", &Options::codec, codec_kind(),
                 "Codec of the extrapolations on the wire; should be unbiased"),
      {.check = check_graph<Options>("ecd_psgd", {.undirected = true, .fixed = true})});
}

}  // namespace trigram::algorithm::ecd_psgd
