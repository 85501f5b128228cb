#include "experiments/run/step_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "core/logging/rank_log.h"
#include "experiments/run/stopping_rule.h"

namespace trigram {
namespace {

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

}  // namespace

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

StepRecorder::StepRecorder(SharedState& shared, bool trains)
    : shared_(shared),
      trains_(trains),
      steps_(shared.experiment.steps,
             {[this](long step) { begin(step); }, [this](long step) { end(step); }}) {}

void StepRecorder::start(const Context& raw, Meter& meter, Workload& workload, NoiseMeter* noise) {
  raw_ = raw;
  if (shared_.simulated || shared_.membership)
    freezes_ = freezes_of(shared_.experiment.cluster.failures, raw.world_rank,
                          shared_.experiment.cluster.workers_per_node);
  meter_ = &meter;
  workload_ = &workload;
  noise_ = noise;
}

void StepRecorder::visit_state(StateVisitor& visitor) {
  visitor.value("began", began_);
  visitor.value("next_freeze", next_freeze_);
  visitor.value("origin_s", origin_s_);
  visitor.value("excluded_s", excluded_s_);
  visitor.value("before", before_);
  stale_ = added(stale_, steps_.take_staleness());
  visitor.value("stale", stale_);
}

void StepRecorder::begin_again_at(double begin_s, double origin_s) {
  begin_again_s_ = begin_s;
  job_origin_s_ = origin_s;
  while (next_freeze_ < freezes_.size() && freezes_[next_freeze_].at_s < begin_s) ++next_freeze_;
}

void StepRecorder::continue_at(long step, double later_s) {
  steps_.begin_at(step);
  report_.first = step;
  if (std::isfinite(later_s)) origin_s_ += later_s;
}

void StepRecorder::begin(long step) {
  // The rank may have sent messages in the background since the end of the step before. They
  // count in this step, but the time between two steps, such as that of an evaluation, counts in
  // none.
  const Counters now = meter_->counters();
  before_ = began_ ? now - traffic(now - before_) : now;
  begin_s_ = raw_.stream->now();
  if (!std::exchange(began_, true)) origin_s_ = begin_again_s_ > 0 ? job_origin_s_ : begin_s_;
  freeze();
  if (shared_.machine && trains_) delay(shared_.machine->delay(raw_.world_rank, step));
  if (step == shared_.timeline.step())
    shared_.timeline.delay(raw_.world_rank, std::string(raw_.stream->name()), begin_s_,
                           raw_.stream->now());
}

/// Delays the worker before the step, if `seconds` is positive.
void StepRecorder::delay(double seconds) {
  if (seconds <= 0) return;
  raw_.stream->sleep_for(seconds);
  delayed_s_ += seconds;
}

/// A worker freezes before the first step after the time of the failure.
void StepRecorder::freeze() {
  for (; next_freeze_ < freezes_.size(); ++next_freeze_) {
    if (freezes_[next_freeze_].at_s > raw_.stream->now() - origin_s_ + job_origin_s_) return;
    delay(freezes_[next_freeze_].duration_s);
  }
}

void StepRecorder::end(long step) {
  raw_.stream->synchronize();  // so that operations count in the step that issued them
  const double now_s = raw_.stream->now();
  const bool absent = steps_.take_absence();
  const long taken = steps_.take_batches(), batches = absent ? 0 : taken;
  const Counters ended = meter_->counters(), began = std::exchange(before_, ended);
  RankStep done{.end_s = now_s - origin_s_ - excluded_s_,
                .spent = ended - began,
                .delayed_s = std::exchange(delayed_s_, 0),
                .loss = trains_ && batches > 0 ? workload_->loss() : 0,
                .staleness = added(std::exchange(stale_, {}), steps_.take_staleness()),
                .batches = batches,
                .squares = noise_ ? noise_->take() : GradientSquares{},
                .trains = trains_,
                .absent = absent};
  if (trains_ && workload_->learns() && !std::isfinite(done.loss))
    throw std::runtime_error(fmt::format("{}: the loss of rank {} is {} at step {}", kDiverged,
                                         raw_.world_rank,
                                         std::isnan(done.loss) ? "NaN" : "infinite", step));
  if (raw_.world_rank == 0 && shared_.tuner) shared_.tuner->step_ended(done.end_s);
  if (step == shared_.timeline.step())
    shared_.timeline.end_step(raw_.world_rank, std::string(raw_.stream->name()), begin_s_, now_s,
                              !shared_.simulated);
  if (shared_.processes) return report(step, done);
  if (shared_.collector.waits_for_all(step)) barrier(raw_);
  const bool evaluated = shared_.collector.is_evaluated(step);
  excluded_s_ +=
      shared_.collector.finish(raw_.world_rank, step, done,
                               evaluated ? evaluated_weights().floats() : std::span<const float>{},
                               *workload_, *raw_.stream);
  if (shared_.stopping) steps_.end_after(shared_.stopping->end());
}

Tensor StepRecorder::evaluated_weights() {
  return steps_.evaluated() ? *steps_.evaluated() : workload_->weights();
}

void StepRecorder::report(long step, const RankStep& done) {
  report_.steps.push_back(done);
  if (step == 0 || done.end_s >= logged_s_ + 1) {
    logged_s_ = done.end_s;
    rank_log::print("step {} of {} ended at {:.3f} s", step + 1, shared_.experiment.steps,
                    done.end_s);
  }
  if (!shared_.collector.is_evaluated(step)) return;
  if (trains_) report_.weights[step] = raw_.device->download(evaluated_weights());
  if (shared_.stopping && step + 1 < steps_.count()) evaluate_together();
}

/// Synchronizes all ranks at an evaluated step, if ranks are processes. They continue when rank 0
/// has decided whether the run goes on. In synchronous algorithms the wait for slower ranks counts
/// as training time, because ranks would wait anyway.
void StepRecorder::evaluate_together() {
  const double arrival_s = raw_.stream->now();
  barrier(raw_);
  const double excluded_from_s = shared_.experiment.synchronous() ? raw_.stream->now() : arrival_s;
  send_steps_to_rank_0(raw_, shared_, report_, *workload_);
  steps_.end_after(broadcast_end(raw_, *shared_.stopping));
  excluded_s_ += raw_.stream->now() - excluded_from_s;
}

}  // namespace trigram
