#include "experiments/run/collector.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/check.h"
#include "experiments/run/stopping_rule.h"

namespace trigram {

namespace {

/// The models that are evaluated after a step, of the models `trained` of the ranks that train:
/// those of ranks that trained in this step. The others, such as workers that federated averaging
/// did not draw, have models of earlier steps.
std::vector<std::vector<float>> current(std::span<const RankStep> ranks,
                                        const std::vector<std::vector<float>>& trained) {
  std::vector<std::vector<float>> models;
  auto model = trained.begin();
  for (const RankStep& rank : ranks) {
    if (!rank.trains) continue;
    if (rank.batches > 0) models.push_back(*model);
    ++model;
  }
  return models.empty() ? trained : models;
}

}  // namespace

bool Collector::is_evaluated(long step) const {
  const bool periodic = options_.eval_every > 0 && (step + 1) % options_.eval_every == 0;
  return options_.evaluates && (periodic || step + 1 == options_.steps);
}

Collector::PendingStep& Collector::pending_step(long step) {
  auto [entry, is_new] = pending_.try_emplace(step);
  if (is_new) {
    const auto ranks = static_cast<std::size_t>(options_.ranks);
    entry->second = {std::vector<RankStep>(ranks),
                     std::vector<std::vector<float>>(is_evaluated(step) ? ranks : 0),
                     options_.ranks, options_.trainers > 0 ? options_.trainers : options_.ranks};
  }
  return entry->second;
}

double Collector::finish(int rank, long step, const RankStep& done, std::span<const float> weights,
                         Workload& workload, const Stream& stream) {
  const double entered_s = stream.now();
  std::unique_lock lock(mutex_);
  PendingStep& pending = pending_step(step);
  const auto index = static_cast<std::size_t>(rank);
  pending.ranks[index] = done;
  if (!options_.waits && !done.absent) {
    std::vector<EndedStep>& ended = ended_[index];
    const double before = ended.empty() ? 0 : ended.back().batches;
    ended.push_back({done.end_s, before + static_cast<double>(done.batches)});
  }
  if (is_evaluated(step) && done.trains)
    pending.weights[index].assign(weights.begin(), weights.end());
  if (done.trains && !done.absent) pending.ended_s = std::max(pending.ended_s, entered_s);
  if (done.trains && --pending.training == 0 && options_.arrived) {
    arrived_until_s_ = std::max(arrived_until_s_, pending.ended_s);
    const std::span<const Counters> arrived = options_.arrived->arrived_by(arrived_until_s_);
    pending.arrived.assign(arrived.begin(), arrived.end());
  }
  if (--pending.missing == 0) complete(step, pending, workload, stream);
  return wait_for(step, entered_s, lock, stream);
}

double Collector::finish(int rank, long step, const RankStep& done, Workload& workload,
                         const Stream& stream) {
  const auto weights = is_evaluated(step) ? workload.weights().floats() : std::span<float>{};
  return finish(rank, step, done, weights, workload, stream);
}

void Collector::replay(const StepRecord& record) {
  std::vector<RankStep> ranks(record.end_s.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    ranks[rank].end_s = record.end_s[rank];
    ranks[rank].batches = record.batches[rank];
    if (options_.waits) continue;
    std::vector<EndedStep>& ended = ended_[rank];
    const double before = ended.empty() ? 0 : ended.back().batches;
    ended.push_back({record.end_s[rank], before + static_cast<double>(record.batches[rank])});
  }
  previous_time_s_ = record.time_s;
  Counters all;
  for (const Counters& rank : record.arrived) all = all + rank;
  previous_arrived_ = all;
  completed_step_ = record.step;
  sink_(record);
  if (options_.stopping) options_.stopping->add(record, ranks, {}, record.step);
}

void Collector::complete(long step, PendingStep& pending, Workload& workload,
                         const Stream& stream) {
  TRIGRAM_CHECK(step == completed_step_ + 1, "step {} ended before step {}", step,
                completed_step_ + 1);
  if (!options_.stopping || step < options_.stopping->counted())
    record(step, pending, workload, stream);
  pending_.erase(step);
  completed_step_ = step;
  completed_.notify_all();
}

void Collector::record(long step, PendingStep& pending, Workload& workload, const Stream& stream) {
  StepRecord record = reduce(step, pending.ranks, previous_time_s_);
  previous_time_s_ = record.time_s;
  if (!options_.waits) record.completed = completed_by(record.time_s);
  if (!pending.arrived.empty()) count_arrived(record, std::move(pending.arrived));
  std::vector<std::vector<float>> trained;  // the weights of every rank that trains, in rank order
  if (is_evaluated(step)) {
    evaluation_began_s_ = stream.now();
    for (std::size_t rank = 0; rank < pending.ranks.size(); ++rank)
      if (pending.ranks[rank].trains) trained.push_back(model_of(rank, step, record.time_s));
    const bool all = std::ranges::all_of(
        pending.ranks, [](const RankStep& rank) { return !rank.trains || rank.batches > 0; });
    record.evaluation = evaluate(workload, all ? trained : current(pending.ranks, trained));
  }
  sink_(record);
  if (options_.stopping)
    options_.stopping->add(record, pending.ranks, trained, pending_.rbegin()->first);
}

std::vector<StepCounts> Collector::completed_by(double time_s) const {
  std::vector<StepCounts> all;
  for (const std::vector<EndedStep>& ended : ended_) {
    const auto after = std::ranges::upper_bound(ended, time_s, {}, &EndedStep::end_s);
    const auto steps = static_cast<double>(after - ended.begin());
    all.push_back({steps, after == ended.begin() ? 0 : std::prev(after)->batches});
  }
  return all;
}

/// The model of a rank for the evaluation of `step`. If the rank is ahead, this is its model after
/// the latest evaluated step that it ended by `time_s`.
std::vector<float> Collector::model_of(std::size_t rank, long step, double time_s) {
  if (!options_.waits)
    for (auto ahead = pending_.rbegin(); ahead != pending_.rend() && ahead->first > step; ++ahead) {
      const PendingStep& later = ahead->second;
      const bool has_ended =
          !later.weights.empty() && !later.weights[rank].empty() && !later.ranks[rank].absent;
      if (has_ended && later.ranks[rank].end_s <= time_s) return later.weights[rank];
    }
  return std::move(pending_.at(step).weights[rank]);
}

/// In simulated time, the traffic of a step is the traffic that has arrived since the end of the
/// step before, no matter in which step a rank sent it.
void Collector::count_arrived(StepRecord& record, std::vector<Counters> arrived) {
  record.arrived = std::move(arrived);
  Counters all;
  for (const Counters& rank : record.arrived) all = all + rank;
  record.sum = all - std::exchange(previous_arrived_, all);
}

/// Waits for the evaluation. Returns the seconds to exclude from training time: the seconds since
/// this rank arrived, or since the evaluation began if that was later. A wait for slower ranks
/// counts as training time, but a wait for an evaluation does not.
double Collector::wait_for(long step, double entered_s, std::unique_lock<std::mutex>& lock,
                           const Stream& stream) {
  if (options_.pause == EvaluationPause::none) return 0;
  if (waits_for_all(step)) {
    completed_.wait(lock, [&] { return completed_step_ >= step || cancelled_; });
    if (cancelled_) return 0;
  }
  return stream.now() - std::max(entered_s, evaluation_began_s_);
}

void Collector::cancel() {
  std::lock_guard lock(mutex_);
  cancelled_ = true;
  completed_.notify_all();
}

}  // namespace trigram
