#include "experiments/run/rank_main.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "core/logging/rank_log.h"
#include "core/optimizers/clipped.h"
#include "core/optimizers/registry.h"
#include "core/workloads/micro_batches.h"
#include "core/workloads/slowed_workload.h"
#include "experiments/run/autotuned_training.h"
#include "experiments/run/checkpoints.h"
#include "experiments/run/gradient_noise.h"
#include "experiments/run/rank_report.h"
#include "experiments/run/stopping_rule.h"

namespace trigram {
namespace {

/// Sends to rank 0 the steps that each rank has ended since the last call; rank 0 passes them to
/// its collector. Collective. Returns the reports of all ranks, by rank, on rank 0; other ranks get
/// an empty list.
std::vector<RankReport> send_steps_to_rank_0(const Context& raw, SharedState& shared,
                                             RankReport& own, Workload& workload) {
  const auto gathered = gather(raw, to_bytes(own));
  std::vector<RankReport> reports;
  for (const std::string& bytes : gathered) reports.push_back(report_from_bytes(bytes));
  // If ranks do not wait for each other, the collector needs all steps of faster ranks before the
  // slowest rank ends a step. So rank 0 passes the steps to it rank by rank.
  const bool by_step = shared.experiment.synchronous();
  const std::size_t ranks = reports.size(), steps = own.steps.size();
  for (std::size_t k = 0; k < ranks * steps; ++k) {
    const std::size_t rank = by_step ? k % ranks : k / steps, i = by_step ? k / ranks : k % steps;
    const long step = own.first + static_cast<long>(i);
    shared.collector.finish(static_cast<int>(rank), step, reports[rank].steps.at(i),
                            reports[rank].weights[step], workload, *raw.stream);
  }
  own.first += static_cast<long>(own.steps.size());
  own.steps.clear();
  own.weights.clear();
  return reports;
}

/// Returns the number of steps to make according to the stopping rule of rank 0. Collective.
long broadcast_end(const Context& ctx, const StoppingRule& stopping) {
  constexpr int kTag = -3;  // algorithms use tags from 0
  if (ctx.world_rank > 0) return static_cast<long>(ctx.control->receive(kTag)->a);
  for (int rank = 1; rank < ctx.world_size; ++rank) ctx.control->post(rank, kTag, stopping.end());
  return stopping.end();
}

/// The bytes and messages without the times.
Counters traffic(Counters all) {
  all.compute_s = all.communication_s = all.exposed_s = 0;
  return all;
}

Steps::Staleness added(const Steps::Staleness& a, const Steps::Staleness& b) {
  return {a.updates + b.updates, a.sum + b.sum, std::max(a.max, b.max)};
}

void sleep_until(Stream& stream, double date_s) {
  if (stream.now() < date_s) stream.sleep_for(date_s - stream.now());
}

/// Measures and reports the steps of one rank.
class StepRecorder {
 public:
  /// `trains` is false for a rank that only serves; it has no loss and no injected delays.
  StepRecorder(SharedState& shared, bool trains)
      : shared_(shared),
        trains_(trains),
        steps_(shared.experiment.steps,
               {[this](long step) { begin(step); }, [this](long step) { end(step); }}) {}

  /// `noise` is null if the noise of gradients is not measured.
  void start(const Context& raw, Meter& meter, Workload& workload, NoiseMeter* noise) {
    raw_ = raw;
    if (shared_.simulated)
      freezes_ = freezes_of(shared_.experiment.cluster.failures, raw.world_rank,
                            shared_.experiment.cluster.workers_per_node);
    meter_ = &meter;
    workload_ = &workload;
    noise_ = noise;
  }
  Steps& steps() { return steps_; }
  double began_s() const { return origin_s_; }
  /// Shows everything that the steps after `steps` steps depend on.
  void visit_state(StateVisitor& visitor) {
    visitor.value("began", began_);
    visitor.value("origin_s", origin_s_);
    visitor.value("excluded_s", excluded_s_);
    visitor.value("before", before_);
    stale_ = added(stale_, steps_.take_staleness());
    visitor.value("stale", stale_);
  }
  /// The ranks of a simulated run begin at `begin_s`, after an earlier attempt that began at 0.
  void begin_again_at(double begin_s) {
    begin_again_s_ = begin_s;
    while (next_freeze_ < freezes_.size() && freezes_[next_freeze_].at_s < begin_s) ++next_freeze_;
  }
  /// Continues a run after `step` steps, whose state has been restored; this took `later_s` seconds
  /// of the clock, which do not count as training time; infinite if all times begin anew.
  void continue_at(long step, double later_s) {
    steps_.begin_at(step);
    report_.first = step;
    if (std::isfinite(later_s)) origin_s_ += later_s;
  }
  /// The steps of this rank that have not been sent to rank 0 yet, if ranks are processes.
  RankReport& report() { return report_; }

 private:
  void begin(long step) {
    // The rank may have sent messages in the background since the end of the step before. They
    // count in this step, but the time between two steps, such as that of an evaluation, counts in
    // none.
    const Counters now = meter_->counters();
    before_ = began_ ? now - traffic(now - before_) : now;
    begin_s_ = raw_.stream->now();
    if (!std::exchange(began_, true)) origin_s_ = begin_again_s_ > 0 ? 0 : begin_s_;
    freeze();
    if (!shared_.machine || !trains_) return;
    const double delay_s = shared_.machine->delay(raw_.world_rank, step);
    if (delay_s > 0) raw_.stream->sleep_for(delay_s);
  }

  /// A worker freezes before the first step after the time of the failure.
  void freeze() {
    for (; next_freeze_ < freezes_.size(); ++next_freeze_) {
      if (freezes_[next_freeze_].at_s > raw_.stream->now() - origin_s_) return;
      raw_.stream->sleep_for(freezes_[next_freeze_].duration_s);
    }
  }

  void end(long step) {
    raw_.stream->synchronize();  // so that operations count in the step that issued them
    const double now_s = raw_.stream->now();
    const long batches = steps_.take_batches();
    const Counters ended = meter_->counters(), began = std::exchange(before_, ended);
    RankStep done{.end_s = now_s - origin_s_ - excluded_s_,
                  .spent = ended - began,
                  .loss = trains_ && batches > 0 ? workload_->loss() : 0,
                  .staleness = added(std::exchange(stale_, {}), steps_.take_staleness()),
                  .batches = batches,
                  .squares = noise_ ? noise_->take() : GradientSquares{},
                  .trains = trains_};
    if (trains_ && workload_->learns() && !std::isfinite(done.loss))
      throw std::runtime_error(
          fmt::format("training diverged: the loss of rank {} is {} at step {}", raw_.world_rank,
                      std::isnan(done.loss) ? "NaN" : "infinite", step));
    if (raw_.world_rank == 0 && shared_.tuner) shared_.tuner->step_ended(done.end_s);
    if (step == shared_.timeline.step())
      shared_.timeline.end_step(raw_.world_rank, std::string(raw_.stream->name()), begin_s_, now_s,
                                !shared_.simulated);
    if (shared_.processes) return report(step, done);
    if (shared_.collector.waits_for_all(step)) barrier(raw_);
    excluded_s_ += shared_.collector.finish(raw_.world_rank, step, done, *workload_, *raw_.stream);
    if (shared_.stopping) steps_.end_after(shared_.stopping->end());
  }

  void report(long step, const RankStep& done) {
    report_.steps.push_back(done);
    if (step == 0 || done.end_s >= logged_s_ + 1) {
      logged_s_ = done.end_s;
      rank_log::print("step {} of {} ended at {:.3f} s", step + 1, shared_.experiment.steps,
                      done.end_s);
    }
    if (!shared_.collector.is_evaluated(step)) return;
    if (trains_) report_.weights[step] = raw_.device->download(workload_->weights());
    if (shared_.stopping && step + 1 < steps_.count()) evaluate_together();
  }

  /// Synchronizes all ranks at an evaluated step, if ranks are processes. They continue when rank 0
  /// has decided whether the run goes on. In synchronous algorithms the wait for slower ranks
  /// counts as training time, because ranks would wait anyway.
  void evaluate_together() {
    const double arrival_s = raw_.stream->now();
    barrier(raw_);
    const double excluded_from_s =
        shared_.experiment.synchronous() ? raw_.stream->now() : arrival_s;
    send_steps_to_rank_0(raw_, shared_, report_, *workload_);
    steps_.end_after(broadcast_end(raw_, *shared_.stopping));
    excluded_s_ += raw_.stream->now() - excluded_from_s;
  }

  SharedState& shared_;
  const bool trains_;
  Steps steps_;
  Context raw_;
  Meter* meter_ = nullptr;
  Workload* workload_ = nullptr;
  NoiseMeter* noise_ = nullptr;
  Counters before_;
  bool began_ = false;      // true from the first step on
  Steps::Staleness stale_;  // recorded between the last step and a checkpoint
  double begin_s_ = 0, origin_s_ = 0;
  double begin_again_s_ = 0;      // 0: this is the first attempt
  std::vector<Failure> freezes_;  // of this rank, in the order of time
  std::size_t next_freeze_ = 0;
  double excluded_s_ = 0;  // seconds spent on evaluations so far
  double logged_s_ = 0;    // end of the last step that was logged
  RankReport report_;
};

/// Trains in parts, each of which ends with a checkpoint, except the last one.
void train_with_checkpoints(RankCheckpoints& checkpoints, const Context& ctx, Run& run,
                            const std::function<std::unique_ptr<Algorithm>()>& make, Meter& meter,
                            bool keeps_streams) {
  if (keeps_streams) meter.keep_forks();
  for (;;) {
    meter.restart_forks();
    Steps steps = Steps::part(run.steps, checkpoints.next_after(run.steps.current()));
    Run part{run.workload, run.optimizer, steps, run.execution, run.seed, run.state};
    make()->train(ctx, part);
    ctx.stream->synchronize();
    if (run.steps.count() <= run.steps.current()) return;
    checkpoints.save(run.steps.current());
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
                                .arrived = shared.arrived});
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
  auto optimizer = find_component(optimizers(), "optimizer", e.optimizer, "/optimizer")
                       .make(e.optimizer, workers.worker_context(ctx), *workload, e.steps);
  if (e.clip_norm) optimizer = clipped(std::move(optimizer), *workload, *e.clip_norm);
  if (e.gradient_noise) optimizer = noise.wrap(std::move(optimizer), *workload);
  const auto make_algorithm = [&e] { return e.algorithm_entry().make(e.algorithm); };
  watch.start(raw, *meter, *workload, e.gradient_noise ? &noise : nullptr);
  Run run{*workload, *optimizer, watch.steps(), execution, static_cast<std::uint64_t>(e.seed)};
  const ForksClosed closed{*meter};
  if (shared.begin_s > 0) watch.begin_again_at(shared.begin_s);
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
    sleep_until(*raw.stream, shared.begin_s);
    train_with_checkpoints(checkpoints, ctx, run, make_algorithm, *meter, e.synchronous());
  } else if (e.autotune) {
    BucketTuner* tuner = raw.world_rank == 0 ? &make_tuner(shared, execution, *workload) : nullptr;
    train_autotuned(ctx, run, make_algorithm, *e.autotune, tuner);
  } else {
    sleep_until(*raw.stream, shared.begin_s);
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
