// Asynchronous DiLoCo: every worker makes blocks of local steps at its own pace, and a server takes
// an outer step with the change of one worker as soon as it arrives (Liu et al., Asynchronous Local
// SGD Training for Language Modeling, arXiv 2401.09135).
//
//   worker i: from the outer parameters y that it has, H local steps lead to x_i;  d = y - x_i;
//             push d, pull y, x_i = y
//   server, at the k-th arrival:  y = y - lr_out d / N;  a = a + d / N
//             if N divides k:     v = mu v + a;  y = y - lr_out mu v;  a = 0
//
// This is delayed Nesterov momentum: N arrivals make the outer step of `diloco` with the mean of N
// changes, but every worker gets the first part of it at once. With "momentum": "nesterov", every
// arrival changes the momentum, which so accelerates along late changes: v = mu v + d / N and y = y
// - lr_out (d / N + mu v). N is the number of workers unless the option `momentum_every` says
// otherwise. A change is P - 1 arrivals old if the P workers are equally fast.
//
// With `dynamic_steps`, slow workers make fewer steps per block (asynchronous/local_steps.h). The
// last block of a run, or of a part of it that ends with a checkpoint, may be shorter.
//
// With more than one server, each has a shard of y and its own count of arrivals. With a codec,
// pushes and pulls are encoded, with error feedback on both sides. Push and pull of a worker and a
// server are reserved first, and the pull follows the outer step. When no worker has steps left,
// all workers pull y.
//
// Messages and bytes per rank and block, with k servers among P workers and a model of S bytes: 2 k
// messages. A worker pushes S bytes and pulls S bytes; in both directions its own shard is not
// sent. For each block of another worker, a server receives and sends S/k bytes. Memory: one model
// per worker, 4 S/k bytes per server; with a codec two more models per worker, P S/k bytes more per
// server.

#include <memory>
#include <optional>

#include "algorithms/asynchronous/local_steps.h"
#include "algorithms/asynchronous/pair_scheduler.h"
#include "algorithms/entries.h"
#include "algorithms/execution/outer_momentum.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"
#include "algorithms/servers/shards.h"

namespace trigram::algorithm::async_diloco {
namespace {

enum class Momentum { delayed, nesterov };

struct Options {
  Execution execution;
  std::int64_t sync_every = 50, servers = 1, momentum_every = 0;
  NesterovOuter outer;
  Momentum momentum = Momentum::delayed;
  bool dynamic_steps = false;
  std::optional<CodecSpec> codec;
};

/// The outer optimizer of the shard `shard`. Changes have the sign of updates: they are -d.
Shards::Apply outer_optimizer(Context ctx, Run& run, const Options& options, const Tensor& shard) {
  const long every = options.momentum_every > 0 ? options.momentum_every : ctx.size();
  const float share = 1 / static_cast<float>(every), lr = static_cast<float>(options.outer.lr),
              mu = static_cast<float>(options.outer.momentum);
  const bool delayed = options.momentum == Momentum::delayed;
  const Tensor momentum = run.state.zeros_like(ctx, "momentum", shard),
               sum = run.state.zeros_like(ctx, "sum", shard);
  return [=, state = run.state](Context c, const Tensor& y, const Tensor& change) {
    Device& device = *c.device;
    device.axpby(lr * share, change, 1, y);
    device.axpby(share, change, 1, sum);
    if (delayed && ++state.value<long>("arrivals") % every != 0) return;
    device.axpby(1, sum, mu, momentum);
    device.axpby(lr * mu, momentum, 1, y);
    device.fill(sum, 0);
  };
}

void train(Context ctx, Run& run, const Options& options) {
  const Servers servers = make_servers(options.servers, ctx.size());
  const auto shards = std::make_shared<Shards>(ctx, run, servers, options.codec);
  shards->apply_by(servers.include(ctx.rank()) ? outer_optimizer(ctx, run, options, shards->shard())
                                               : nullptr);
  PairScheduler pairs(ctx, servers.serving_ranks(), [shards](Context c, int worker, int server) {
    shards->push(c, worker, server);
    shards->pull(c, worker, server);
  });
  std::optional<LocalSteps> pace;
  if (options.dynamic_steps) pace.emplace(ctx, options.sync_every, run.state);
  long& steps = run.state.value<long>("steps of a block", options.sync_every);
  long made = 0;
  // The end of the latest exchange. A worker's delays, which come before its steps, count.
  double begin_s = ctx.stream->now();
  for (long t : run.steps) {
    if (made++ == 0) shards->begin_change(ctx);
    local_step(ctx, run);
    const bool last = t + 1 >= run.steps.count();
    if (made < steps && !last) continue;
    if (pace) {
      ctx.stream->synchronize();
      steps = pace->next(ctx, (ctx.stream->now() - begin_s) / static_cast<double>(made));
    }
    shards->end_change(ctx);
    pairs.exchange_with_all_servers(ctx);
    made = 0;
    begin_s = ctx.stream->now();
    if (!last) continue;
    pairs.finish(ctx);
    if (pace) pace->finish(ctx);
    ctx.stream->wait(*pairs.data().submit(ctx, [shards](Context c) { shards->collect(c); }));
  }
}

}  // namespace

AlgorithmEntry async_diloco_entry() {
  return algorithm_entry(
      {.name = "async_diloco",
       .doc = "Blocks of local steps at every worker's own pace; a server makes an outer step for "
              "each",
       .trigram = kAsyncFullPrecisionCentralised,
       .trigram_with_codec = kAsyncLowPrecisionCentralised,
       .execution_options = "",
       .source = "Liu et al., Asynchronous Local SGD, arXiv 2401.09135"},
      train,
      shard_fields<Options>()
          .field("sync_every", &Options::sync_every, integer(1),
                 "H: steps of a block; with `dynamic_steps`, of the fastest worker's blocks")
          .include(&Options::outer, nesterov_outer_fields())
          .field(
              "momentum", &Options::momentum,
              one_of<Momentum>({{"delayed", Momentum::delayed}, {"nesterov", Momentum::nesterov}}),
              "When the outer momentum changes: delayed: with the mean of N changes, at every "
              "N-th arrival; nesterov: at every arrival")
          .field("momentum_every", &Options::momentum_every, integer(0, 1 << 20),
                 "N: arrivals whose changes make an outer step; 0: the number of workers")
          .field("dynamic_steps", &Options::dynamic_steps, boolean(),
                 "Slow workers make fewer steps per block, so that all blocks take the same time"),
      {.check = check_shards<Options>});
}

}  // namespace trigram::algorithm::async_diloco
