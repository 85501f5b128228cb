// Asynchronous parameter server: every worker steps at its own pace from the latest weights that it
// has (Dean et al., DistBelief, NIPS 2012). Workers push changes of the weights instead of
// gradients, as in the asynchronous mode of BytePS (Jiang et al., OSDI 2020).
//
//   worker: d = -lr U(g(w)), by its own optimizer;  for every server s: push d[s], pull w[s]
//   server s, at once, one worker after the other: w[s] = w[s] + d[s]
//
// Updates are added, not averaged: per step, P workers move the weights P times as far as one
// worker does. With P equally fast workers, a change is P-1 updates old when it is applied. With a
// codec (none: full precision), pushes and pulls are encoded, with error feedback on both sides,
// and the method counts as low precision. Push and pull of a worker and a server are one batch,
// which both ranks reserve first. When no worker has updates left, all workers pull the final
// weights; this ends their last step. If workers come and go, there is no such last pull, and only
// workers that serve no shard can be missed: a shard is lost with its server.
//
// Messages and bytes per rank and update, with k servers among P workers and a model of S bytes: k
// exchanges. A worker pushes S bytes and pulls S bytes; in both directions its own shard is not
// sent. For each update of another worker, a server receives and sends S/k bytes. Memory with a
// codec: two more models per worker, P S/k bytes more per server.

#include <memory>

#include "algorithms/asynchronous/pair_scheduler.h"
#include "algorithms/entries.h"
#include "algorithms/execution/steps.h"
#include "algorithms/membership/members.h"
#include "algorithms/options.h"
#include "algorithms/servers/shards.h"

namespace trigram::algorithm::async_parameter_server {
namespace {

struct Options {
  Execution execution;
  std::int64_t servers = 0;
  std::optional<CodecSpec> codec;
};

void train(Context ctx, Run& run, const Options& options) {
  const Servers servers = make_servers(options.servers, ctx.size());
  const auto shards = std::make_shared<Shards>(ctx, run, servers, options.codec);
  PairScheduler pairs(ctx, servers.serving_ranks(), [shards](Context c, int worker, int server) {
    shards->exchange(c, worker, server);
  });
  std::optional<Members> members;
  if (run.membership) members.emplace(ctx, run, Rounds{}, BackgroundAverages{.no_rounds = true});
  for (long t : run.steps) {
    if (members && !members->present(ctx)) continue;
    shards->begin_change(ctx);
    local_step(ctx, run);
    shards->end_change(ctx);
    pairs.exchange_with_all_servers(ctx);
    if (members || t + 1 < run.steps.count()) continue;
    pairs.finish(ctx);
    ctx.stream->wait(*pairs.data().submit(ctx, [shards](Context c) { shards->collect(c); }));
  }
  if (!members) return;
  members->finish(ctx);
  pairs.finish(ctx);
}

/// The workers that serve no shard, if pushes and pulls have no codec: with one, a server keeps a
/// copy of what it has sent to every worker.
Workers dispensable(const Options& options, const Layout& layout) {
  const Servers servers = make_servers(options.servers, layout.ranks());
  Workers workers;
  for (int rank = 0; !options.codec && rank < layout.ranks(); ++rank)
    if (!servers.include(rank)) workers.ranks.push_back(rank);
  return workers;
}

}  // namespace

AlgorithmEntry async_parameter_server_entry() {
  return algorithm_entry(
      {.name = "async_parameter_server",
       .doc = "Servers apply each worker's update as it arrives; low precision with a codec",
       .trigram = kAsyncFullPrecisionCentralised,
       .trigram_with_codec = kAsyncLowPrecisionCentralised,
       .execution_options = "",
       .source = "Dean et al., NIPS 2012; Jiang et al., BytePS, OSDI 2020"},
      train, shard_fields<Options>(), {.check = check_shards<Options>, .dispensable = dispensable});
}

}  // namespace trigram::algorithm::async_parameter_server
