#include "experiments/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include "experiments/config/real_time_match.h"
#include "experiments/run/absences.h"
#include "experiments/run/backlog.h"
#include "experiments/run/checkpoints.h"
#include "experiments/run/drawn_steps.h"
#include "experiments/run/job_links.h"
#include "experiments/run/lock_step.h"
#include "experiments/run/lower_bound_check.h"
#include "experiments/run/network_changes.h"
#include "experiments/run/run_cost.h"
#include "experiments/run/shortfall.h"
#include "experiments/run/steady_steps.h"
#include "experiments/run/summary.h"
#include "experiments/run/target_quality.h"
#include "experiments/run/trace_routes.h"
#include "netmodels/cluster_network.h"
#include "netmodels/machines.h"
#include "netmodels/prices.h"
#include "runtime/mpi/mpi_runtime.h"

namespace trigram {
namespace {

using Clock = std::chrono::steady_clock;

EvaluationPause pause_of(const Experiment& e) {
  if (e.world().simulated || e.world().processes) return EvaluationPause::none;
  return e.synchronous() ? EvaluationPause::rendezvous : EvaluationPause::gate;
}

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

/// Measures the links of a job whose processes run inside an emulated network, before it trains.
/// Returns null for all other runs.
Json measure_links(const Experiment& e, Runtime& runtime) {
  if (!e.emulates() || !e.world().processes) return nullptr;
  const std::vector<CheckedLink> links = check_job_links(runtime, e.cluster);
  if (mpi_process().rank == 0 && !links.empty()) {
    std::fputs(link_table(links).c_str(), stderr);
    warn_about(links, e.name);
  }
  return to_json(links);
}

/// True if a worker had completed all of its steps long before the end of the run, and so had
/// stopped learning. Null if workers wait for each other.
Json worker_done(const Experiment& e, const Json& summary, const TargetQuality* target) {
  if (e.synchronous() || e.leaves_out_steps()) return nullptr;
  const bool ended_early = target && summary.at("steps") < e.steps;
  return ended_early ? target->worker_done() : !summary.at("paces").is_null();
}

std::string unequal_nics_warning(const Json& world) {
  if (!world.contains("all_to_all_between_unequal_nics")) return "";
  return "all-to-all exchanges between NICs that differ were simulated as flows, which do not show "
         "that slow NICs carry messages of two exchanges at a time: messages may take much longer; "
         "set /runtime/fidelity to \"message\"";
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

/// Observes the steps of a run, decides when it ends, and makes its summary.
class RunObserver {
 public:
  /// `interrupted`: earlier parts of the job have failed. `credits` is World::link_credits of the
  /// run's world.
  RunObserver(const Experiment& e, const WorkloadFactory& workload, bool interrupted,
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

  /// Null if the run makes all its steps.
  StoppingRule* stopping() const {
    return steady_ ? static_cast<StoppingRule*>(steady_.get()) : target_.get();
  }
  void add(const StepRecord& record) {
    summary_.add(record);
    drawn_.add(record);
    changes_.add(record);
    counted_ = record.arrived;
  }
  /// The summary without "world" and "links". `ranks` are the results of the ranks at the end of
  /// the run, which took `wall_s` seconds of real time.
  Json to_json(const std::vector<RankResult>& ranks, double wall_s) {
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
         {few_averages_warning(e_, json), drawn_.warning(json["step_s"]),
          lock_step_warning(e_, json), stopped_learning_warning(json)})
      if (!sentence.empty()) json["warnings"].push_back(sentence);
    if (simulated && !e_.leaves_out_steps()) {  // absent workers report later than others
      const double bound_s =
          lower_bound(e_.cluster, steady_ ? steady_->with_left_out(counted_) : counted_, results);
      check_lower_bound(json["time_s"], bound_s);
      json["lower_bound_s"] = bound_s;
    }
    return json;
  }

 private:
  const Experiment& e_;
  const WorkloadFactory& workload_;
  const ExchangeSchedule schedule_;
  const std::unique_ptr<SteadySteps> steady_;
  const std::unique_ptr<TargetQuality> target_;
  Summary summary_;
  DrawnSteps drawn_;
  NetworkChanges changes_;
  std::vector<Counters> counted_;  // traffic that arrived during the steps that count
};

}  // namespace

Json make_run(const Experiment& e, const WorkloadFactory& workload, const RunOutput& output,
              const CheckpointPlace& place, const SimulatedSpan& span) {
  const Layout layout = e.cluster.layout();
  const bool simulated = e.world().simulated;
  const auto runtime = e.world().make(e.runtime, e.cluster, workload);
  bool launched = false;  // else the links of the world do not exist yet
  const bool interrupted = span.in_job && span.begin_s > 0;
  RunObserver observer(e, workload, interrupted, [&] {
    const auto& link_credits = e.world().link_credits;
    return link_credits && launched ? link_credits(*runtime) : std::vector<double>();
  });
  const Workers workers = e.algorithm_entry().workers(e.algorithm, layout);
  std::optional<ArrivedTraffic> arrived;
  if (simulated) arrived.emplace(static_cast<std::size_t>(layout.ranks()));
  const bool has_results = !e.world().processes || mpi_process().rank == 0;
  std::optional<Checkpoints> checkpoints;
  if (e.checkpoint) checkpoints.emplace(e, place, has_results);
  Collector collector({.ranks = layout.ranks(),
                       .trainers = workers.count(),
                       .arrived = arrived ? &*arrived : nullptr,
                       .steps = static_cast<long>(e.steps),
                       .eval_every = static_cast<long>(e.eval_every),
                       .evaluates = workload.learns(),
                       .waits = e.synchronous(),
                       .pause = pause_of(e),
                       .stopping = observer.stopping()},
                      [&](const StepRecord& record) {
                        observer.add(record);
                        output.step(record);
                        if (checkpoints) checkpoints->records.push_back(record);
                      });
  Timeline timeline(shown_step(e), std::min(static_cast<int>(e.timeline.ranks), layout.ranks()));
  const auto machine = make_machine_model(e.cluster);
  std::optional<PlannedMembership> membership;
  if (e.carries_on() || (e.leaves_out_steps() && e.cluster.failures.none() && !e.world().processes))
    membership.emplace(e.cluster.failures, e.cluster.nodes, e.cluster.workers_per_node);
  HeartbeatDetector* const detector = membership ? membership->detector() : span.detector;
  std::optional<HeartbeatRun> heartbeats;
  if (detector) heartbeats.emplace(heartbeat_run(e, *runtime, *detector));
  std::vector<RankResult> results(static_cast<std::size_t>(layout.ranks()));
  SharedState shared{e,
                     workload,
                     workers,
                     machine.get(),
                     simulated,
                     e.world().processes,
                     collector,
                     timeline,
                     observer.stopping(),
                     std::move(results),
                     arrived ? &*arrived : nullptr,
                     {},
                     checkpoints ? &*checkpoints : nullptr,
                     span,
                     membership ? &*membership : nullptr,
                     heartbeats ? &*heartbeats : nullptr,
                     egress_zones(e.cluster)};
  if (checkpoints)
    for (const StepRecord& record : checkpoints->take_earlier_records()) collector.replay(record);
  if (checkpoints && !checkpoints->same_size()) collector.begin_at(*checkpoints->resumed_step);

  const Json links = measure_links(e, *runtime);
  const auto started = Clock::now();
  launched = true;
  if (span.end_s) e.world().end_at(*runtime, *span.end_s);
  runtime->launch(layout, [&shared](const Context& raw) { rank_main(raw, shared); });
  const double wall_s = std::chrono::duration<double>(Clock::now() - started).count();

  if (!has_results) return nullptr;
  Json trace = timeline.to_json(span.in_job ? std::optional(0.0) : std::nullopt);
  if (simulated) add_routes(trace, *make_network(e.cluster), layout);
  output.timeline(trace);
  Json json = observer.to_json(shared.results, wall_s);
  json["world"] = runtime->notes();
  if (const std::string warning = unequal_nics_warning(json["world"]); !warning.empty())
    json["warnings"].push_back(warning);
  if (!links.is_null()) json["links"] = links;
  if (checkpoints) {
    json["checkpoint"] = checkpoints->to_json();
    for (const std::string& note : checkpoints->notes) json["warnings"].push_back(note);
  }
  if (membership) {
    json["failures"] = absences_json(*membership, e, json);
    if (const std::string warning = late_rounds_warning(json["failures"]); !warning.empty())
      json["warnings"].push_back(warning);
  }
  json["cost"] = run_cost(e.cluster, json, workers.count() > 0 ? workers.count() : layout.ranks());
  if (shared.tuner) json["autotune"] = shared.tuner->to_json();
  return json;
}

}  // namespace trigram
