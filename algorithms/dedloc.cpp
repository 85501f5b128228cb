// DeDLOC: workers accumulate gradients at their own pace until all of them together have a target
// batch (Diskin et al., arXiv 2106.10207; learning-at-home/hivemind,
// hivemind/optim/progress_tracker.py and grad_averager.py).
//
//   x = x - lr U(sum_i m_i g_i / sum_i m_i)
//
// m_i is the number of samples that worker i has processed since the last step, and g_i the mean of
// their gradients. A step ends when sum_i m_i has reached the target T. So the update is that of
// one worker with the same samples, whatever the speeds of the workers: with v_i samples per second
// a step takes T / sum_i v_i and the average, where equal shares would take T / (P min v_i).
//
// Workers count a mini-batch when they begin it, and tell each other by control messages. A worker
// that begins a mini-batch before it hears that the target is reached contributes it, too, so
// sum_i m_i may exceed T. hivemind publishes progress in a distributed hash table and predicts when
// the target will be reached. With `delay` 1, the average runs beside the next step and is applied
// at its end (see delayed_allreduce.cpp).
//
// With `balance`: throughput, every step has M = ceil(T/b) mini-batches of b samples, and at least
// one per worker. They are dealt before the step by the workers' measured throughputs, as SWARM
// does (asynchronous/throughput_balancer.h), so the number of samples does not depend on time. With
// s_i mini-batches per second and exact estimates, the last worker finishes at most one of its own
// mini-batches after M / sum_i s_i.
//
// The average is an allreduce, or, with a codec, a scatter-reduce as in hivemind, whose shares may
// follow the bandwidths of the workers (primitives/bandwidth_shares.h).
//
// Messages and bytes per rank and iteration, for S bytes of gradient and a ring: 2(P-1) messages
// per bucket, 2(P-1)/P S bytes; with a codec the same with C instead of S. P-1 control messages per
// mini-batch, and P-1 per step; with `balance`: throughput, only those per step. Memory: one model,
// and with a delay two more.

#include <algorithm>

#include "algorithms/asynchronous/sample_counts.h"
#include "algorithms/asynchronous/throughput_balancer.h"
#include "algorithms/entries.h"
#include "algorithms/execution/averages.h"
#include "algorithms/execution/delayed_updates.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"
#include "core/config/option_type.h"

namespace trigram::algorithm::dedloc {
namespace {

/// How the mini-batches of a step are shared: workers go on until all together have begun the
/// target batch, or mini-batches are dealt before the step by measured throughputs.
enum class Balance { progress, throughput };

struct Options {
  Execution execution;
  std::int64_t target_batch = 4096;
  Balance balance = Balance::progress;
  double smoothing = 0.1;  // as in SWARM
  std::int64_t delay = 0;
  std::optional<CodecSpec> codec;
  Shares shares = Shares::equal;
  AllreduceSpec allreduce;
};

Exchange average_of(const Options& options, const Run& run) {
  if (!options.codec) return full_average(options.allreduce);
  return coded_average({.codec = *options.codec,
                        .seed = run.seed,
                        .phase2 = SecondPhase::direct,
                        .shares = options.shares});
}

/// Adds the gradient of one more mini-batch to `sum`, which the first one replaces.
void add_gradients(Context ctx, Run& run, bool first, const Tensor& sum) {
  compute_gradients(ctx, run);
  ctx.device->axpby(1, run.workload.gradients(), first ? 0 : 1, sum);
  ctx.stream->synchronize();
}

/// Adds up the gradients of mini-batches in `sum` until the workers together have begun the target
/// batch. Returns the samples of all workers.
std::int64_t accumulate_gradients(Context ctx, Run& run, const Options& options,
                                  SampleCounts& counts, const Tensor& sum) {
  const long step = run.steps.current();
  long batches = 0;
  do {
    counts.begin(ctx, step, static_cast<std::int64_t>(run.workload.priced_batch()));
    add_gradients(ctx, run, batches == 0, sum);
    ++batches;
  } while (counts.begun(ctx, step) < options.target_batch);
  run.steps.record_batches(batches);
  return counts.total(ctx, step);
}

/// Adds up the gradients of the mini-batches that are dealt to this worker in `sum`, and measures
/// its throughput. Returns the samples of all workers.
std::int64_t accumulate_dealt(Context ctx, Run& run, const Options& options,
                              ThroughputBalancer& balancer, const Tensor& sum) {
  const auto [batches, all_samples] = balancer.deal(ctx, options.target_batch);
  const double begin_s = ctx.stream->now();
  for (long i = 0; i < batches; ++i) add_gradients(ctx, run, i == 0, sum);
  run.steps.record_batches(batches);
  // If computation takes no time, all workers are equally fast.
  const double mean_s = (ctx.stream->now() - begin_s) / static_cast<double>(batches);
  balancer.measured(ctx, std::max(mean_s, 1e-9));
  return all_samples;
}

void train(Context ctx, Run& run, const Options& options) {
  DelayedUpdates updates(ctx, run, options.delay, average_of(options, run));
  SampleCounts counts;
  std::optional<ThroughputBalancer> balancer;
  if (options.balance == Balance::throughput)
    balancer.emplace(ctx, run.workload.priced_batch(), options.smoothing, run.state);
  const Tensor sum = ctx.device->empty_like(run.workload.gradients());
  for ([[maybe_unused]] long t : run.steps) {
    const std::int64_t samples = balancer ? accumulate_dealt(ctx, run, options, *balancer, sum)
                                          : accumulate_gradients(ctx, run, options, counts, sum);
    // The exchange divides by P, and the gradient of a mini-batch is a mean over its batch.
    const double weight = static_cast<double>(run.workload.priced_batch()) * ctx.world_size /
                          static_cast<double>(samples);
    ctx.device->axpby(static_cast<float>(weight), sum, 0, run.workload.gradients());
    updates.begin(ctx, run);
    updates.apply(ctx, run);
  }
  updates.finish(ctx);
}

/// Time decides how many mini-batches a worker contributes, but not which messages it sends. In the
/// first step that is dealt, the speeds of the workers are unknown.
ExchangeSchedule schedule(const Options& options, const Layout&) {
  const long unknown = options.balance == Balance::throughput;
  return {.cycle = Cycle{.first_step = std::max(options.delay, unknown), .exact = false}};
}

}  // namespace

AlgorithmEntry dedloc_entry() {
  return algorithm_entry(
      {.name = "dedloc",
       .doc =
           "Synchronous SGD whose workers accumulate gradients, each at its own pace, until they "
           "have a target batch together",
       .trigram = kSyncFullPrecisionCentralised,
       .trigram_with_codec = kSyncLowPrecisionCentralised,
       .execution_options = "FH",
       .source = "Diskin et al., DeDLOC, arXiv 2106.10207",
       .accumulates_by = "target_batch"},
      train,
      FieldTable<Options>{}
          .field(
              "target_batch", &Options::target_batch, integer(1, 1 << 30),
              "T: samples of all workers together per step, as the profile of the workload counts "
              "them; every worker makes at least one mini-batch")
          .field("balance", &Options::balance,
                 one_of<Balance>(
                     {{"progress", Balance::progress}, {"throughput", Balance::throughput}}),
                 "How workers share a step. progress: each goes on until all together have begun "
                 "the target batch; throughput: mini-batches are dealt before the step by the "
                 "measured throughputs of the workers, as in SWARM")
          .field("smoothing", &Options::smoothing, number(0, 1, Open::below),
                 "Weight of the newest measurement in the moving average of the seconds that a "
                 "mini-batch takes a worker")
          .only_where([](const Options& options) { return options.balance == Balance::throughput; },
                      "needs \"balance\": \"throughput\" beside it")
          .field("delay", &Options::delay, integer(0, 1),
                 "1: gradients are averaged during the next step and applied at its end")
          .field("codec", &Options::codec, optional_codec_kind(),
                 "Codec of the gradients in a scatter-reduce, such as fp16; none: an allreduce at "
                 "full precision")
          .field("shares", &Options::shares, shares_kind(), kSharesDoc)
          .only_where([](const Options& options) { return options.codec.has_value(); },
                      "needs a codec beside it: only a scatter-reduce has shares")
          .field("allreduce", &Options::allreduce, allreduce_kind(), "Algorithm of the allreduce")
          .only_where([](const Options& options) { return !options.codec; }, kNoAllreduceOfCodes),
      {.schedule = schedule});
}

}  // namespace trigram::algorithm::dedloc
