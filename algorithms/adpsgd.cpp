// Asynchronous decentralised parallel SGD (AD-PSGD, Lian et al., arXiv 1710.06952).
//
//   worker i: x_i = x_i - lr U(g_i(x)), where x is the x_i at which the gradient computation began
//   agents i, j, atomically: x_i, x_j = (x_i + x_j) / 2
//
// The worker of a rank trains, and its agent averages. The peer graph must be bipartite: it divides
// the ranks into active and passive ones, and every edge joins an active and a passive rank. In
// each step of an active rank, its agent requests an average from the peer that the graph gives for
// that step (if there are several, from a randomly drawn one). The average, with weights of 1/2,
// runs while the worker computes its next gradient. The agent of a passive rank serves one request
// at a time, so no cycle of waits can arise, and no rank ever waits for another rank's gradient.
//
// The implementation computes x_i = x_i + (s_j - s_i)/2 from snapshots s. Hence steps made during
// an average are kept, and the sum of all models is conserved. Passive agents serve until all
// active partners have finished. If an average takes longer than a step, active workers run at the
// pace of the averages; passive workers do not. If workers come and go, an average whose partner is
// not there does not take place.
//
// With a codec Q (our own design, after the replicas of CHOCO-SGD, arXiv 1902.00340), each pair
// shares a reference r, which starts as the initial model. The pair sends encoded differences from
// it:
//   q_i = Q(s_i - r);  x_i = x_i + (q_j - q_i)/2;  r = r + (q_i + q_j)/2    and the same for j
// The sum of all models is still conserved. The loss of Q remains in x_i - r, so the pair's next
// average encodes it again.
//
// Messages and bytes per rank and average, for a model of S bytes whose code has C bytes: one
// message each way, of S bytes, or of C bytes with a codec. Memory: 4 models beside the weights;
// with a codec and d partners, d + 1 more.

#include <memory>

#include "algorithms/asynchronous/model_averager.h"
#include "algorithms/asynchronous/pair_requests.h"
#include "algorithms/entries.h"
#include "algorithms/execution/host_passes.h"
#include "algorithms/membership/members.h"
#include "algorithms/options.h"
#include "algorithms/peers/active_passive.h"
#include "algorithms/peers/registry.h"

namespace trigram::algorithm::adpsgd {
namespace {

struct Options {
  Execution execution;
  bool through_host = false;
  std::int64_t interval_steps = 1;
  PeerGraphSpec graph{"bipartite"};
  std::optional<CodecSpec> codec;
};

/// Training whose workers come and go.
void train_members(Context ctx, Run& run, const Options& options) {
  const ActivePassive roles(make_peer_graph(options.graph, run.seed), ctx.world_rank,
                            ctx.world_size, run.seed);
  const auto averager = std::make_shared<ModelAverager>(ctx, run, roles.partners(), options.codec);
  Members members(ctx, run, {},
                  {.average = [averager](Context c, int partner) { averager->average(c, partner); },
                   .restart = [averager](Context c) { averager->model.restart(c); }});
  for (long t : run.steps) {
    if (!members.present(ctx)) continue;
    averager->model.step(ctx, run);
    if (roles.passive() || (t + 1) % options.interval_steps != 0) continue;
    members.wait_for_average(ctx);  // begun `interval_steps` steps ago
    if (const auto partner = roles.partner(t)) members.request(*partner);
  }
  members.wait_for_average(ctx);
  members.finish(ctx);
  averager->model.refresh_weights(ctx);
}

void train(Context ctx, Run& run, const Options& options) {
  if (run.membership) return train_members(ctx, run, options);
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
    if (work) ctx.stream->wait(*work);  // the average begun `interval_steps` steps ago
    if (const auto partner = roles.partner(t))
      work = agent->submit(ctx, [=](Context c) { request_pair(c, *partner, average); });
  }
  if (!passive) work = agent->submit(ctx, [=](Context c) { end_requests(c, roles.partners()); });
  ctx.stream->wait(*work);
  averager->model.refresh_weights(ctx);
}

ExchangeSchedule schedule(const Options& options, const Layout&) {
  return {.cycle = Cycle{.steps = options.interval_steps, .exact = false},
          .interval_steps = options.interval_steps};
}

}  // namespace

AlgorithmEntry adpsgd_entry() {
  return algorithm_entry(
      {.name = "adpsgd",
       .doc = "Workers step alone while agents average models in pairs; low precision with a codec",
       .trigram = kAsyncFullPrecisionDecentralised,
       .trigram_with_codec = kAsyncLowPrecisionDecentralised,
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
       .check = check_graph<Options>("adpsgd", {.undirected = true, .bipartite = true}),
       .dispensable = [](const Options& options, const Layout& layout) {
         // With a codec, the partners of a worker keep references that die with it.
         return options.codec || options.through_host ? Workers{} : all_ranks(layout);
       }});
}

}  // namespace trigram::algorithm::adpsgd
