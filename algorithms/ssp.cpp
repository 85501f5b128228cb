// SSP, stale synchronous parallel: a parameter server whose workers run at their own pace, but are
// never more than a bound ahead of the slowest worker (Ho et al., NIPS 2013).
//
//   worker: d = -lr U(g(w)), by its own optimizer;  for every server r: push d[r];  c = c + 1
//           wait while c > min_j c_j + s;  for every server r: pull w[r]
//   server r, at once: w[r] = w[r] + d[r]
//
// The clock c is the number of a worker's steps. At clock c its weights include all updates of
// clocks up to c - s - 1, its own updates, and any other updates that have arrived. With s = 0 the
// weights include all updates of the previous clock, as in a bulk synchronous run, and those
// updates of the current clock that have arrived. With s above the number of steps no worker waits,
// as in `async_parameter_server`. Updates are added, not averaged: per step, P workers move the
// weights P times as far as one worker does. Pushes and pulls are separate exchanges, each of which
// is reserved first. With a codec (none: full precision) both are encoded, with error feedback on
// both sides, and the method counts as low precision. The last step ends with a pull of the final
// weights, which is not encoded.
//
// Messages and bytes per rank and update, with k servers among P workers and a model of S bytes: 2k
// exchanges. A worker pushes S bytes and pulls S bytes; in both directions its own shard is not
// sent. For each update of another worker, a server receives and sends S/k bytes. Each clock takes
// P-1 control messages. Memory: one model per worker, 2 S/k bytes per server; with a codec two more
// models per worker, P S/k bytes more per server.

#include <map>
#include <memory>
#include <utility>

#include "algorithms/asynchronous/pair_scheduler.h"
#include "algorithms/entries.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"
#include "algorithms/servers/clock_bound.h"
#include "algorithms/servers/shards.h"

namespace trigram::algorithm::ssp {
namespace {

struct Options {
  Execution execution;
  std::int64_t staleness = 3;
  std::int64_t servers = 0;
  std::optional<CodecSpec> codec;
};

/// The exchanges of a worker and a server, which are alternately a push and a pull.
class PushesAndPulls {
 public:
  PushesAndPulls(Context ctx, Run& run, const Servers& servers, std::optional<CodecSpec> codec)
      : shards(ctx, run, servers, std::move(codec)) {}
  void exchange(Context c, int worker, int server) {
    bool& pushed = pushed_[{worker, server}];
    if (pushed) shards.pull(c, worker, server);
    else shards.push(c, worker, server);
    pushed = !pushed;
  }
  Shards shards;

 private:
  std::map<std::pair<int, int>, bool> pushed_;  // by worker and server
};

void train(Context ctx, Run& run, const Options& options) {
  const Servers servers = make_servers(options.servers, ctx.size());
  const auto model = std::make_shared<PushesAndPulls>(ctx, run, servers, options.codec);
  PairScheduler pairs(ctx, servers.serving_ranks(), [model](Context c, int worker, int server) {
    model->exchange(c, worker, server);
  });
  ClockBound clocks(ctx, options.staleness);
  for (long t : run.steps) {
    model->shards.begin_change(ctx);
    local_step(ctx, run);
    model->shards.end_change(ctx);
    pairs.exchange_with_all_servers(ctx);  // push
    clocks.tick(ctx);
    if (t + 1 < run.steps.count()) {
      clocks.wait(ctx);
      pairs.exchange_with_all_servers(ctx);  // pull
      continue;
    }
    pairs.finish(ctx);
    clocks.finish(ctx);
    ctx.stream->wait(*pairs.data().submit(ctx, [model](Context c) { model->shards.collect(c); }));
  }
}

ExchangeSchedule schedule(const Options&, const Layout&) {
  return {.cycle = std::nullopt, .bounds_lead = true};
}

}  // namespace

AlgorithmEntry ssp_entry() {
  return algorithm_entry(
      {.name = "ssp",
       .doc = "Servers apply updates as they arrive; no worker is far ahead of the slowest",
       .trigram = kAsyncFullPrecisionCentralised,
       .trigram_with_codec = kAsyncLowPrecisionCentralised,
       .execution_options = "",
       .source = "Ho et al., Stale Synchronous Parallel, NIPS 2013"},
      train,
      shard_fields<Options>().field(
          "staleness", &Options::staleness, integer(0),
          "s: number of steps by which a worker may be ahead of the slowest when it begins a step"),
      {.schedule = schedule, .check = check_shards<Options>});
}

}  // namespace trigram::algorithm::ssp
