#include "experiments/run/run_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "experiments/config/real_time_match.h"
#include "experiments/run/backlog.h"
#include "experiments/run/lock_step.h"
#include "experiments/run/lower_bound_check.h"
#include "experiments/run/shortfall.h"

namespace trigram {
namespace {

/// The number of passes over the data set, given the number of mini-batches that each rank took;
/// empty if there is no data set. A pass leaves out the last samples if they are too few for a
/// mini-batch of every rank.
std::optional<double> epochs(const WorkloadFactory& workload, std::span<const RankResult> ranks,
                             std::span<const double> batches) {
  if (workload.samples() == 0) return std::nullopt;
  std::size_t global_batch = 0;  // samples in one mini-batch of every rank together
  double samples = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!ranks[i].trains) continue;
    global_batch += ranks[i].batch;
    samples += batches[i] * static_cast<double>(ranks[i].batch);
  }
  return samples / static_cast<double>(workload.samples() / global_batch * global_batch);
}

/// True if a worker had completed all of its steps long before the end of the run, and so had
/// stopped learning. Null if workers wait for each other.
Json worker_done(const Experiment& e, const Json& summary, const TargetQuality* target) {
  if (e.synchronous() || e.leaves_out_steps()) return nullptr;
  const bool ended_early = target && summary.at("steps") < e.steps;
  return ended_early ? target->worker_done() : !summary.at("paces").is_null();
}

std::string stopped_learning_warning(const Json& summary) {
  if (summary.at("worker_done") != true) return "";
  const bool by_loss = summary.at("accuracy").is_null() || summary.at("target").contains("loss");
  return fmt::format(
      "a worker made all of its steps before the other workers and stopped learning: in a run with "
      "more steps, {} would be reached earlier",
      by_loss ? "lower losses" : "later accuracies");
}

/// The cycle over which means per step are taken. Work that is lost when workers restart counts in
/// the first step that is repeated, which may be one of the warm-up, so that means of an
/// interrupted job cover its warm-up, too.
Cycle measured_cycle(const Experiment& e, bool interrupted) {
  Cycle cycle = rated_cycle(e);
  if (interrupted) cycle.first_step = 0;
  return cycle;
}

/// True if the description makes no worker compute longer than the profile.
bool computes_as_profiled(const Cluster& c) {
  return c.worker_variation == 0 && c.slow_workers.empty() && c.stragglers.count == 0 &&
         c.skew.largest_s == 0 && c.run_times.kind == RunTimes::Shape::constant;
}

/// The warning of a run in real time whose trained model takes longer than the profile that it is
/// priced as; otherwise an empty text. Steps then take the time of this machine.
std::string slow_model_warning(const Experiment& e, const WorkloadFactory& workload,
                               const Json& summary) {
  constexpr double kNoise = 1.25;  // of sleeping and of other processes
  const auto times = workload.layer_times();
  if (e.world().simulated || !times || !workload.priced_batch() || !trains_the_priced_model(e) ||
      !computes_as_profiled(e.cluster) || !summary.at("samples_per_s").is_number())
    return "";
  // A step of some algorithms has several mini-batches, and servers have none.
  const double batches = summary.at("samples_per_s").get<double>() *
                         summary.at("step_s").get<double>() /
                         static_cast<double>(*workload.priced_batch()) / e.cluster.ranks();
  const double profiled_s = times->step_s * std::max(1.0, batches),
               compute_s = summary.at("compute_s").get<double>();
  if (compute_s <= kNoise * profiled_s) return "";
  return fmt::format(
      "priced_as: a step of the trained model takes {:.3g} ms here, and {} computes for {:.3g} ms: "
      "times and samples/s are those of this machine, not of the profile",
      1e3 * compute_s, times->profile, 1e3 * profiled_s);
}

}  // namespace

RunObserver::RunObserver(const Experiment& e, const WorkloadFactory& workload, bool interrupted,
                         const NetworkChanges::Credits& credits)
    : e_(e),
      workload_(workload),
      schedule_(e.schedule()),
      steady_(workload.steps_differ() ? nullptr : make_steady_steps(e, credits)),
      target_(make_target_quality(e)),
      summary_(measured_cycle(e, interrupted),
               e.synchronous() || schedule_.bounds_lead || e.carries_on(),
               schedule_.interval_steps),
      drawn_(e),
      changes_(e, credits) {}

void RunObserver::add(const StepRecord& record) {
  summary_.add(record);
  drawn_.add(record);
  changes_.add(record);
  counted_ = record.arrived;
}

Json RunObserver::to_json(const std::vector<RankResult>& ranks, double wall_s) {
  const bool simulated = e_.world().simulated;
  const Cycle cycle = rated_cycle(e_);
  Json behind;
  if (simulated && cycle.exact && e_.cluster.failures.none())
    behind = backlog(summary_, ranks, stopping() ? stopping()->end() : summary_.all().steps,
                     schedule_.interval_steps);
  if (steady_ && steady_->cycles_left_out() > 0)
    summary_.repeat(steady_->cycle(), steady_->cycles_left_out());
  const auto results = stopping() ? stopping()->completed(ranks) : ranks;
  Json json = summary_.to_json(
      results, simulated ? std::optional(messages_of(ranks) / wall_s) : std::nullopt,
      trains_the_priced_model(e_) ? workload_.priced_batch() : std::nullopt);
  json["steady"] = steady_ ? steady_->to_json() : Json();
  json["target"] =
      target_ ? target_->to_json(epochs(workload_, results, summary_.batches())) : Json();
  if (schedule_.interval_steps > 1) json["cycle_steps"] = schedule_.interval_steps;
  json["shown_step"] = shown_step(e_);
  json["backlog"] = behind;
  json["shortfall"] = shortfall(e_, json);
  json["worker_done"] = workload_.learns() ? worker_done(e_, json, target_.get()) : Json();
  json["warnings"] = changes_.warnings();
  for (const std::string& sentence :
       {few_averages_warning(e_, json), drawn_.warning(json["step_s"]), lock_step_warning(e_, json),
        stopped_learning_warning(json),
        workload_.learns() ? models_of_nobody_warning(e_) : std::string(),
        slow_model_warning(e_, workload_, json)})
    if (!sentence.empty()) json["warnings"].push_back(sentence);
  if (simulated && !e_.leaves_out_steps()) {  // absent workers report later than others
    const double bound_s =
        lower_bound(e_.cluster, steady_ ? steady_->with_left_out(counted_) : counted_, results);
    check_lower_bound(json["time_s"], bound_s);
    json["lower_bound_s"] = bound_s;
  }
  return json;
}

}  // namespace trigram
