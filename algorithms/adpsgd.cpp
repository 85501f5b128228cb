// Asynchronous decentralised parallel SGD (AD-PSGD, Lian et al., arXiv 1710.06952).
//
//   worker i: x_i = x_i - lr U(g_i(x)), where x is x_i as it was when the gradient was begun
//   agents i, j, atomically: x_i, x_j = (x_i + x_j) / 2
//
// Over any bipartite graph: the agent of an active rank asks the peer that the graph gives it for a
// step of its own (of several, one drawn), and averages with it while the next gradient is
// computed. Passive ranks' agents answer one request after the other, so nobody waits in a circle,
// and nobody for anybody's gradient. In the form x_i = x_i + (s_j - s_i)/2 for snapshots s, steps
// made during an average are kept and the sum of all models is conserved. Passive agents serve
// until their active partners have finished. Where an average takes longer than a step, active
// workers run at the pace of averages, passive ones do not. Pairs weigh 1/2.
//
// With a codec Q (the form is our own choice, after CHOCO-SGD's replicas, arXiv 1902.00340) a pair
// shares a reference r, at first the initial model, and sends codes of differences from it:
//   q_i = Q(s_i - r);  x_i = x_i + (q_j - q_i)/2;  r = r + (q_i + q_j)/2    and the same for j
// The sum is conserved; what Q loses is x_i - r then, and is coded in the pair's next average.
//
// Steps and bytes per rank and average, S bytes of model, C of its code: one message each way, of
// S, or C with a codec. Memory: 4 models beside the weights; with a codec d + 1 more, d partners.

#include <memory>

#include "algorithms/asynchronous/model_averager.h"
#include "algorithms/asynchronous/pair_requests.h"
#include "algorithms/entries.h"
#include "algorithms/execution/host_passes.h"
#include "algorithms/options.h"
#include "algorithms/peers/active_passive.h"
#include "algorithms/peers/registry.h"

namespace trigram {
namespace {

struct Options {
  Execution execution;
  bool through_host = false;
  std::int64_t interval_steps = 1;
  PeerGraphSpec graph{"bipartite"};
  std::optional<CodecSpec> codec;
};

void train(Context ctx, Run& run, const Options& options) {
  const ActivePassive roles(make_peer_graph(options.graph, run.seed), ctx.world_rank,
                            ctx.world_size, run.seed);
  const bool passive = roles.passive();
  const auto averager = std::make_shared<ModelAverager>(ctx, run, roles.partners(), options.codec);
  const HostPasses host(options.through_host);
  const Tensor model = run.workload.weights();
  const PairAction average = [averager, host, model](Context c, int partner) {
    averager->average(c, partner);
    host.add(model);
  };
  auto agent = ctx.stream->fork("averager");
  std::shared_ptr<Work> work;
  if (passive)
    work = agent->submit(ctx, [=](Context c) { grant_requests(c, roles.partners(), average); });
  for (long t : run.steps) {
    averager->model.step(ctx, run);
    host.charge(ctx);
    if (passive || (t + 1) % options.interval_steps != 0) continue;
    if (work) ctx.stream->wait(*work);  // the average that was begun a step ago
    if (const auto partner = roles.partner(t))
      work = agent->submit(ctx, [=](Context c) { request_pair(c, *partner, average); });
  }
  if (!passive) work = agent->submit(ctx, [=](Context c) { end_requests(c, roles.partners()); });
  ctx.stream->wait(*work);
  averager->model.read(ctx);
}

ExchangeSchedule schedule(const Options& options, const Layout&) {
  return {.cycle = Cycle{.steps = options.interval_steps, .exact = false},
          .every = options.interval_steps};
}

}  // namespace

AlgorithmEntry adpsgd_entry() {
  return algorithm_entry(
      {.name = "adpsgd",
       .doc = "Workers step alone while agents average models in pairs; low precision with a codec",
       .trigram = kAsyncFullDecentralised,
       .trigram_with_codec = kAsyncLowDecentralised,
       .execution_options = "",
       .source = "Lian et al., AD-PSGD, arXiv 1710.06952"},
      train,
      FieldTable<Options>{}
          .field("through_host", &Options::through_host, boolean(), kThroughHost)
          .field("interval_steps", &Options::interval_steps, integer(1),
                 "Steps of an active worker between the pair averages that it starts")
          .field("graph", &Options::graph, peer_graph_kind(),
                 "Peer graph of the averages; must be undirected and bipartite")
          .field("codec", &Options::codec, optional_codec_kind(),
                 "Codec of the difference between a model and the pair's reference; none: full "
                 "precision"),
      {.schedule = schedule,
       .check = check_graph<Options>("adpsgd", {.undirected = true, .bipartite = true})});
}

}  // namespace trigram
