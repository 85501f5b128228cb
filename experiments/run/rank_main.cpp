#include "experiments/run/rank_main.h"

#include <fmt/format.h>

#include <utility>

#include "core/optimizers/clipped.h"
#include "core/optimizers/registry.h"
#include "core/workloads/micro_batches.h"
#include "core/workloads/slowed_workload.h"
#include "experiments/run/autotuned_training.h"
#include "experiments/run/checkpoints.h"
#include "experiments/run/gradient_noise.h"
#include "experiments/run/labelled_workload.h"
#include "experiments/run/rank_report.h"
#include "experiments/run/step_recorder.h"

namespace trigram {
namespace {

void sleep_until(Stream& stream, double date_s) {
  if (stream.now() < date_s) stream.sleep_for(date_s - stream.now());
}

/// Ends the world if the span ends with the checkpoint that was written at `saved_s`. Rank 0 does
/// so, which completes checkpoints.
void end_with_checkpoint(const Context& raw, const SimulatedSpan& span, double saved_s) {
  if (!span.checkpoint_s || raw.world_rank > 0 || saved_s < *span.checkpoint_s) return;
  throw SimulationEnded(
      fmt::format("the simulation was ended by the checkpoint at {:g} s", saved_s));
}

/// Trains in parts, each of which ends with a checkpoint, except the last one. Calls `written` when
/// a checkpoint is complete.
void train_with_checkpoints(RankCheckpoints& checkpoints, const Context& ctx, Run& run,
                            const std::function<std::unique_ptr<Algorithm>()>& make, Meter& meter,
                            bool keeps_streams,
                            const std::function<void(double saved_s)>& written) {
  if (keeps_streams) meter.keep_forks();
  for (;;) {
    meter.restart_forks();
    Steps steps = Steps::part(run.steps, checkpoints.next_after(run.steps.current()));
    Run part{run.workload, run.optimizer, steps, run.execution, run.seed, run.state};
    make()->train(ctx, part);
    ctx.stream->synchronize();
    if (run.steps.count() <= run.steps.current()) return;
    written(checkpoints.save(run.steps.current()));
  }
}

/// Closes the streams that a meter keeps before the objects that their tasks use are destroyed.
struct ForksClosed {
  Meter& meter;
  ~ForksClosed() { meter.close_forks(); }
};

/// Sends to rank 0 the remaining steps, the results and the timelines of all ranks. Collective.
void send_results_to_rank_0(const Context& raw, SharedState& shared, RankReport& own,
                            Workload& workload) {
  own.result = shared.results[static_cast<std::size_t>(raw.world_rank)];
  own.timeline = shared.timeline.rank_to_bytes(raw.world_rank);
  const std::vector<RankReport> reports = send_steps_to_rank_0(raw, shared, own, workload);
  for (std::size_t rank = 0; rank < reports.size(); ++rank) {
    shared.results[rank] = reports[rank].result;
    if (rank > 0) shared.timeline.rank_from_bytes(static_cast<int>(rank), reports[rank].timeline);
  }
}

std::string hash_of(Workload& workload, Device& device) {
  return workload.learns() ? weights_hash(device.download(workload.weights())) : "";
}

BucketTuner& make_tuner(SharedState& shared, const Execution& execution, Workload& workload) {
  const Experiment& e = shared.experiment;
  return shared.tuner.emplace(*e.autotune, execution.bucket_bytes,
                              workload.weights().priced_numel() * size_of(DType::f32),
                              static_cast<std::uint64_t>(e.seed));
}

void train(const Context& raw, SharedState& shared) {
  const Experiment& e = shared.experiment;
  const Workers& workers = shared.workers;
  const bool trains = workers.include(raw.world_rank);
  StepRecorder watch(shared, trains);
  auto meter = instrument(raw, {.phantom = !shared.workload.has_values(),
                                .machine = shared.machine,
                                .steps = &watch.steps(),
                                .sink = shared.timeline.sink(raw.world_rank, watch.steps()),
                                .arrived = shared.arrived,
                                .tariff = &shared.tariff});
  const Context ctx = meter->context();
  NoiseMeter noise(*raw.device);
  auto workload =
      shared.workload.make(workers.worker_context(ctx), static_cast<std::uint64_t>(e.seed));
  CountedWorkload* counted = nullptr;
  if (shared.checkpoints) workload = counted_workload(std::move(workload), counted);
  if (e.micro_batches > 1)
    workload = with_micro_batches(std::move(workload), ctx, watch.steps(), e.micro_batches);
  if (!shared.simulated && shared.machine && shared.workload.has_values())
    workload = slowed(std::move(workload), *raw.stream, *shared.machine, watch.steps());
  if (e.gradient_noise) workload = noise.wrap(std::move(workload));
  const Execution execution = e.algorithm_entry().traits(e.algorithm).execution;
  workload->bucketize(execution.buckets());
  if (shared.timeline.sink(raw.world_rank, watch.steps()))
    workload = labelled(std::move(workload), *meter);
  if (raw.world_rank == 0) shared.timeline.set_buckets(buckets_json(workload->buckets()));
  auto optimizer = find_component(optimizers(), "optimizer", e.optimizer, "/optimizer")
                       .make(e.optimizer, workers.worker_context(ctx), *workload, e.steps);
  if (e.clip_norm) optimizer = clipped(std::move(optimizer), *workload, *e.clip_norm);
  if (e.gradient_noise) optimizer = noise.wrap(std::move(optimizer), *workload);
  const auto make_algorithm = [&e] { return e.algorithm_entry().make(e.algorithm); };
  watch.start(raw, *meter, *workload, e.gradient_noise ? &noise : nullptr);
  Run run{*workload, *optimizer, watch.steps(), execution, static_cast<std::uint64_t>(e.seed)};
  run.membership = shared.membership;
  const ForksClosed closed{*meter};
  const SimulatedSpan& span = shared.span;
  if (span.begin_s > 0) watch.begin_again_at(span.begin_s, span.origin_s);
  std::optional<HeartbeatSender> heartbeats;
  if (shared.heartbeats)
    heartbeats.emplace(raw, e, *shared.heartbeats, span.begin_s,
                       !run.membership || run.membership->begins(raw.world_rank));
  if (shared.checkpoints) {
    RankCheckpoints checkpoints(
        {raw, *meter, *counted, *workload, *optimizer, run.state}, *shared.checkpoints,
        {.visit = [&watch](StateVisitor& visitor) { watch.visit_state(visitor); },
         .report =
             [&] {
               if (shared.processes) send_steps_to_rank_0(raw, shared, watch.report(), *workload);
             },
         .timeline = shared.timeline,
         .arrived = shared.arrived});
    if (const auto later_s = checkpoints.restore())
      watch.continue_at(*shared.checkpoints->resumed_step, *later_s);
    // What has been restored includes the next freeze.
    if (span.begin_s > 0) watch.begin_again_at(span.begin_s, span.origin_s);
    sleep_until(*raw.stream, span.begin_s);
    const double brought_back_s = checkpoints.bring_back_copies();
    if (span.brought_back_s && raw.world_rank == 0) *span.brought_back_s = brought_back_s;
    const auto written = [&](double saved_s) { end_with_checkpoint(raw, span, saved_s); };
    train_with_checkpoints(checkpoints, ctx, run, make_algorithm, *meter, e.synchronous(), written);
  } else if (e.autotune) {
    BucketTuner* tuner = raw.world_rank == 0 ? &make_tuner(shared, execution, *workload) : nullptr;
    train_autotuned(ctx, run, make_algorithm, *e.autotune, tuner);
  } else {
    sleep_until(*raw.stream, span.begin_s);
    make_algorithm()->train(ctx, run);
  }
  ctx.stream->synchronize();
  shared.results[static_cast<std::size_t>(raw.world_rank)] = {meter->counters(), watch.began_s(),
                                                              hash_of(*workload, *raw.device),
                                                              workload->batch(), trains};
  if (shared.processes) send_results_to_rank_0(raw, shared, watch.report(), *workload);
}

}  // namespace

void rank_main(const Context& raw, SharedState& shared) {
  try {
    train(raw, shared);
  } catch (...) {
    shared.collector.cancel();
    throw;
  }
}

}  // namespace trigram
