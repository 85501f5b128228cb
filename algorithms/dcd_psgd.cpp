// DCD-PSGD: decentralised SGD with difference compression (Tang et al., arXiv 1803.06443).
//
//   y = x_i - lr U(g_i(x_i))                                   the local step
//   z = y + sum_j W_ij r_j - 2 r_i                             the change to encode; r_i = x_i
//   r_i = r_i + Q(z_i), r_j = r_j + Q(z_j) of all peers        the replicas
//   x_i = r_i
//
// W is symmetric and fixed. The replicas start as the initial weights, which are equal on all
// ranks. On a ring with minmax_uint8 this is the low-precision decentralised algorithm of BAGUA
// (arXiv 2107.01499, where it is hierarchical): z = y + L/3 + R/3 - 5/3 W. What Q drops is never
// recovered.
//
// The paper's analysis assumes errors of Q that are small relative to the spectral gap of W.
// Eight-bit codecs satisfy this on graphs of a few ranks; signs and sparse codecs do not, but are
// accepted: only a Q that is no contraction is refused. choco_sgd tolerates coarse codecs.
//
// After the optimizer's step, each rank sends the encoded change Q(z_i) to each of its d peers, as
// one message of C bytes. Messages and bytes per rank and exchange: d messages and d C bytes. If
// weights are exchanged in buckets (option `bucket`), each bucket is encoded as one vector, one
// bucket after another, all after the optimizer's step (as in BAGUA's code). With a
// communication_interval of k, the steps 0, k, 2k, ... end with an exchange, and the other steps
// are local. Memory: d + 1 models beside the weights.

#include "algorithms/entries.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/parts.h"
#include "algorithms/options.h"
#include "algorithms/peers/registry.h"
#include "algorithms/primitives/replicas.h"
#include "core/codecs/registry.h"

namespace trigram::algorithm::dcd_psgd {
namespace {

struct Options {
  Execution execution;
  PeerGraphSpec graph;
  CodecSpec codec;
  std::int64_t communication_interval = 1;
};

void train(Context ctx, Run& run, const Options& options) {
  const Tensor weights = run.workload.weights();
  const auto replicas_by_part = std::make_shared<std::vector<Replicas>>();
  for (const Part& part : parts_of(run))
    replicas_by_part->emplace_back(ctx, run, options.graph, part.weights, part.index);
  auto comm = ctx.stream->fork("comm");
  const auto mix = across(run.execution, [replicas_by_part, codec = options.codec, seed = run.seed](
                                             Context c, const Tensor& x, Slot slot) {
    Replicas& replicas = replicas_by_part->at(static_cast<std::size_t>(slot.bucket));
    const Tensor z = c.device->copy_of(x);
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
          .interval_steps = options.communication_interval};
}

}  // namespace

AlgorithmEntry dcd_psgd_entry() {
  return algorithm_entry(
      {.name = "dcd_psgd",
       .doc = "Decentralised SGD that exchanges coded differences of the mixed model",
       .trigram = kSyncLowPrecisionDecentralised,
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

}  // namespace trigram::algorithm::dcd_psgd
