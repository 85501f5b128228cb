// DeepSqueeze: decentralised SGD on encoded models, with error feedback (Tang et al., arXiv
// 1907.07346).
//
//   y = x_i - lr U(g_i(x_i));  v = y + e_i;  c_i = C(v);  e_i = v - c_i
//   x_i = y + gamma (sum_j W_ij c_j - c_i)
//
// W is symmetric. The method encodes whole models, not differences, so the error v - C(v) is
// proportional to the weights, and gamma must be small if the codec is coarse. No replicas are
// kept, so the peers may change from step to step. C must be a contraction: |v - C(v)| < |v| in
// expectation.
//
// After the optimizer's step, each rank sends its encoded model to each of its d peers, as one
// message. Messages and bytes per rank and iteration, for codes of C bytes: d messages and d C
// bytes. Memory: one model beside the weights.

#include "algorithms/entries.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"
#include "algorithms/peers/registry.h"
#include "algorithms/primitives/primitives.h"

namespace trigram::algorithm::deepsqueeze {
namespace {

struct Options {
  Execution execution;
  PeerGraphSpec graph;
  CodecSpec codec;
  double gamma = 0.5;
};

void train(Context ctx, Run& run, const Options& options) {
  const Tensor weights = run.workload.weights(),
               residual = run.state.zeros_like(ctx, "residual", weights);
  const std::shared_ptr<const PeerGraph> graph = make_peer_graph(options.graph, run.seed);
  auto comm = ctx.stream->fork("comm");
  const auto gossip = across(run.execution, [residual, graph, options, seed = run.seed](
                                                Context c, const Tensor& x, Slot slot) {
    const auto codec = c.device->codec(options.codec, codec_key(c, seed, slot));
    const Tensor code = codec->empty_wire(*c.device, x), decoded = c.device->empty_like(x);
    ErrorFeedback(*c.device, *codec, residual).encode(code, x);
    const Peers peers = graph->peers(c.rank(), c.size(), slot.step);
    const auto arrived = exchange_with(c, code, peers);
    const auto add_decoded = [&](double weight, const Tensor& wire) {
      codec->decode(decoded, wire);
      c.device->axpby(static_cast<float>(options.gamma * weight), decoded, 1, x);
    };
    add_decoded(double{peers.self_weight} - 1, code);
    for (std::size_t i = 0; i < arrived.size(); ++i)
      add_decoded(double{peers.receive_from[i].weight}, arrived[i]);
  });
  for ([[maybe_unused]] long t : run.steps) {
    local_step(ctx, run);
    exchange_on(*comm, ctx, run, weights, gossip);
  }
}

}  // namespace

AlgorithmEntry deepsqueeze_entry() {
  return algorithm_entry(
      {.name = "deepsqueeze",
       .doc = "Decentralised SGD that exchanges coded models, with error feedback",
       .trigram = kSyncLowPrecisionDecentralised,
       .execution_options = "H",
       .source = "Tang et al., DeepSqueeze, arXiv 1907.07346"},
      train,
      FieldTable<Options>{}
          .field("graph", &Options::graph, peer_graph_kind(),
                 "Peer graph of the averages; must be undirected")
          .field("codec", &Options::codec, contraction_kind(), "Codec of the models on the wire")
          .field("gamma", &Options::gamma, number(0, 1, Open::below), "Step size of the gossip"),
      {.schedule = schedule_of_graph<Options>,
       .check = check_graph<Options>("deepsqueeze", {.undirected = true})});
}

}  // namespace trigram::algorithm::deepsqueeze
