#include "experiments/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "experiments/config/real_time_match.h"
#include "experiments/run/drawn_steps.h"
#include "experiments/run/job_links.h"
#include "experiments/run/network_changes.h"
#include "experiments/run/rank_main.h"
#include "experiments/run/shortfall.h"
#include "experiments/run/steady_steps.h"
#include "experiments/run/summary.h"
#include "experiments/run/target_accuracy.h"
#include "netmodels/machines.h"
#include "runtime/mpi/mpi_runtime.h"

namespace trigram {
namespace {

using Clock = std::chrono::steady_clock;

EvaluationPause pause_of(const Experiment& e) {
  if (e.world().simulated || e.world().processes) return EvaluationPause::none;
  return e.synchronous() ? EvaluationPause::rendezvous : EvaluationPause::gate;
}

/// The number of passes over the data set, given the number of mini-batches that each rank took. A
/// pass leaves out the last samples if they are too few for a mini-batch of every rank.
double epochs(const WorkloadFactory& workload, std::span<const RankResult> ranks,
              std::span<const double> batches) {
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
Json worker_done(const Experiment& e, const Json& summary, const TargetAccuracy* target) {
  if (e.synchronous()) return nullptr;
  const bool ended_early = summary.at("steps") < e.steps;
  return ended_early ? target->worker_done() : !summary.at("paces").is_null();
}

std::string stopped_learning_warning(const Json& summary) {
  if (summary.at("worker_done") != true) return "";
  return "a worker made all of its steps before the other workers and stopped learning: in a run "
         "with more steps, later accuracies would be reached earlier";
}

}  // namespace

Json make_run(const Experiment& e, const WorkloadFactory& workload, const RunOutput& output) {
  const Layout layout = e.cluster.layout();
  const bool simulated = e.world().simulated;
  const auto runtime = e.world().make(e.runtime, e.cluster, workload);
  const auto credits = [&e, &runtime] {
    const auto& link_credits = e.world().link_credits;
    return link_credits ? link_credits(*runtime) : std::vector<double>();
  };
  const auto steady = make_steady_steps(e, credits);
  const auto target = make_target_accuracy(e);
  StoppingRule* const stopping = steady ? static_cast<StoppingRule*>(steady.get()) : target.get();
  const Workers workers = e.algorithm_entry().workers(e.algorithm, layout);
  const ExchangeSchedule schedule = e.schedule();
  Summary summary(rated_cycle(e), e.synchronous() || schedule.bounds_lead);
  DrawnSteps drawn(e);
  NetworkChanges changes(e, credits);
  std::vector<Counters> arrived(simulated ? static_cast<std::size_t>(layout.ranks()) : 0);
  std::vector<Counters> counted;  // traffic that arrived during the steps that count
  Collector collector({.ranks = layout.ranks(),
                       .trainers = workers.count(),
                       .arrived = arrived,
                       .steps = static_cast<long>(e.steps),
                       .eval_every = static_cast<long>(e.eval_every),
                       .evaluates = workload.learns(),
                       .waits = e.synchronous(),
                       .pause = pause_of(e),
                       .stopping = stopping},
                      [&](const StepRecord& record) {
                        summary.add(record);
                        drawn.add(record);
                        changes.add(record);
                        counted = record.arrived;
                        output.step(record);
                      });
  Timeline timeline(shown_step(e), std::min(static_cast<int>(e.timeline.ranks), layout.ranks()));
  const auto machine = make_machine_model(e.cluster);
  SharedState shared{e,         workload,
                     workers,   machine.get(),
                     simulated, e.world().processes,
                     collector, timeline,
                     stopping,  std::vector<RankResult>(static_cast<std::size_t>(layout.ranks())),
                     arrived};

  const Json links = measure_links(e, *runtime);
  const auto started = Clock::now();
  runtime->launch(layout, [&shared](const Context& raw) { rank_main(raw, shared); });
  const double wall_s = std::chrono::duration<double>(Clock::now() - started).count();

  if (e.world().processes && mpi_process().rank != 0) return nullptr;  // rank 0 has all results
  output.timeline(timeline.to_json());
  if (steady && steady->cycles_left_out() > 0)
    summary.repeat(steady->cycle(), steady->cycles_left_out());
  const auto results = stopping ? stopping->completed(shared.results) : shared.results;
  Json json = summary.to_json(
      results, simulated ? std::optional(messages_of(shared.results) / wall_s) : std::nullopt,
      trains_the_priced_model(e) ? workload.priced_batch() : std::nullopt);
  json["steady"] = steady ? steady->to_json() : Json();
  json["target"] = target ? target->to_json(epochs(workload, results, summary.batches())) : Json();
  if (schedule.every > 1) json["cycle_steps"] = schedule.every;
  json["shown_step"] = shown_step(e);
  json["shortfall"] = shortfall(e, json);
  json["world"] = runtime->notes();
  json["worker_done"] = workload.learns() ? worker_done(e, json, target.get()) : Json();
  json["warnings"] = changes.warnings();
  for (const std::string& sentence : {few_averages_warning(e, json), drawn.warning(json["step_s"]),
                                      stopped_learning_warning(json)})
    if (!sentence.empty()) json["warnings"].push_back(sentence);
  if (simulated) {
    const double bound_s =
        lower_bound(e.cluster, steady ? steady->with_left_out(counted) : counted, results);
    check_lower_bound(json["time_s"], bound_s);
    json["lower_bound_s"] = bound_s;
  }
  if (!links.is_null()) json["links"] = links;
  return json;
}

}  // namespace trigram
