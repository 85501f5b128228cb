// DCD-PSGD: decentralised SGD with difference compression (Tang et al., arXiv 1803.06443).
//
//   y = x_i - lr U(g(x_i))                                     the local step
//   z = y + sum_j W_ij r_j - 2 r_i                             what changes, r_i = x_i
//   r_i = r_i + Q(z_i), r_j = r_j + Q(z_j) of all peers        the replicas
//   x_i = r_i
//
// W is symmetric and fixed; replicas start as the initial weights, which are equal. On a ring with
// minmax_uint8 it is the low-precision decentralised algorithm of BAGUA (arXiv 2107.01499, there
// hierarchical): z = y + L/3 + R/3 - 5/3 W. What Q loses is gone.
// The paper's analysis needs a loss that is small against the spectral gap of W; eight bits have
// that on graphs of some ranks, signs or few elements do not. Refused is only a Q that can lose
// more than all; choco_sgd bears what is coarse.
//
// The code of the whole model is one message of C bytes, after the optimiser's step; per rank and
// exchange, d peers: d messages and d C bytes. In buckets, an option: each is coded as one vector,
// one bucket after another, all after the optimiser's step (as in BAGUA's code). With a
// communication_interval of k, the steps 0, k, 2k, ... end with an exchange, the others are local.
// Memory: d + 1 models beside the weights.

#include "algorithms/entries.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/parts.h"
#include "algorithms/options.h"
#include "algorithms/peers/registry.h"
#include "algorithms/primitives/replicas.h"
#include "core/codecs/registry.h"

namespace trigram {
namespace {

struct Options {
  Execution execution;
  PeerGraphSpec graph;
  CodecSpec codec;
  std::int64_t communication_interval = 1;
};

void train(Context ctx, Run& run, const Options& options) {
  const Tensor weights = run.workload.weights();
  const auto of_parts = std::make_shared<std::vector<Replicas>>();
  for (const Part& part : parts_of(run))
    of_parts->emplace_back(ctx, run, options.graph, part.weights);
  auto comm = ctx.stream->fork("comm");
  const auto mix = across(run.execution, [of_parts, codec = options.codec, seed = run.seed](
                                             Context c, const Tensor& x, Slot slot) {
    Replicas& replicas = of_parts->at(static_cast<std::size_t>(slot.bucket));
    const Tensor z = c.device->empty_like(x);
    c.device->copy(z, x);
    c.device->axpby(-2, replicas.own(), 1, z);
    replicas.add_mixed(c, 1, z);
    replicas.advance(c, z, *c.device->codec(codec, codec_key(c, seed, slot)));
    c.device->copy(x, replicas.own());
  });
  for (long t : run.steps) {
    local_step(ctx, run);
    if (t % options.communication_interval == 0) exchange_on(*comm, ctx, run, weights, mix);
  }
}

ExchangeSchedule schedule(const Options& options, const Layout&) {
  return {.cycle = Cycle{.steps = options.communication_interval},
          .every = options.communication_interval};
}

}  // namespace

AlgorithmEntry dcd_psgd_entry() {
  return algorithm_entry(
      {.name = "dcd_psgd",
       .doc = "Decentralised SGD that exchanges coded differences of the mixed model",
       .trigram = kSyncLowDecentralised,
       .execution_options = "FH",
       .source = "Tang et al., arXiv 1803.06443; BAGUA, arXiv 2107.01499",
       .exchanges_weights = true},
      train,
      FieldTable<Options>{}
          .field("graph", &Options::graph, peer_graph_kind(),
                 "Peer graph of the averages; must be undirected and fixed")
          .field("codec", &Options::codec, contraction_kind(),
                 "Codec of the differences on the wire")
          .field("communication_interval", &Options::communication_interval, integer(1),
                 "k: exchange after steps 0, k, 2k, ...; the other steps are local"),
      {.schedule = schedule,
       .check = check_graph<Options>("dcd_psgd", {.undirected = true, .fixed = true})});
}

}  // namespace trigram
