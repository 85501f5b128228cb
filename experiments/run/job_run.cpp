#include "experiments/run/job_run.h"

#include <algorithm>
#include <string>
#include <utility>

#include "experiments/run/absences.h"
#include "experiments/run/run_cost.h"
#include "experiments/run/shortfall.h"
#include "experiments/run/trace_routes.h"
#include "netmodels/cluster_network.h"
#include "netmodels/machines.h"
#include "netmodels/prices.h"
#include "runtime/mpi/mpi_runtime.h"

namespace trigram {
namespace {

EvaluationPause pause_of(const Experiment& e) {
  if (e.world().simulated || e.world().processes) return EvaluationPause::none;
  return e.synchronous() ? EvaluationPause::rendezvous : EvaluationPause::gate;
}

std::string unequal_nics_warning(const Json& world) {
  if (!world.contains("all_to_all_between_unequal_nics")) return "";
  return "all-to-all exchanges between NICs that differ were simulated as flows, which do not show "
         "that slow NICs carry messages of two exchanges at a time: messages may take much longer; "
         "set /runtime/fidelity to \"message\"";
}

}  // namespace

JobRun::JobRun(const Experiment& e, const WorkloadFactory& workload, Runtime& runtime,
               const RunOutput& output, const CheckpointPlace& place, const SimulatedSpan& span)
    : e_(e),
      output_(output),
      runtime_(runtime),
      layout_(e.cluster.layout()),
      workers_(e.algorithm_entry().workers(e.algorithm, layout_)),
      observer_(e, workload, span.in_job && span.begin_s > 0, [this] { return credits(); }),
      timeline_(shown_step(e), std::min(static_cast<int>(e.timeline.ranks), layout_.ranks())),
      machine_(make_machine_model(e.cluster)) {
  const bool simulated = e.world().simulated;
  if (simulated) arrived_.emplace(static_cast<std::size_t>(layout_.ranks()));
  const bool has_results = !e.world().processes || mpi_process().rank == 0;
  if (e.checkpoint) checkpoints_.emplace(e, place, has_results);
  make_collector(workload);
  if (e.carries_on() || (e.leaves_out_steps() && e.cluster.failures.none() && !e.world().processes))
    membership_.emplace(e.cluster.failures, e.cluster.nodes, e.cluster.workers_per_node);
  HeartbeatDetector* const detector = membership_ ? membership_->detector() : span.detector;
  if (detector) heartbeats_.emplace(heartbeat_run(e, runtime, *detector));
  shared_.emplace(SharedState{e,
                              workload,
                              workers_,
                              machine_.get(),
                              simulated,
                              e.world().processes,
                              *collector_,
                              timeline_,
                              observer_.stopping(),
                              std::vector<RankResult>(static_cast<std::size_t>(layout_.ranks())),
                              arrived_ ? &*arrived_ : nullptr,
                              {},
                              checkpoints_ ? &*checkpoints_ : nullptr,
                              span,
                              membership_ ? &*membership_ : nullptr,
                              heartbeats_ ? &*heartbeats_ : nullptr,
                              egress_tariff(e.cluster)});
  if (!checkpoints_) return;
  for (const StepRecord& record : checkpoints_->take_earlier_records()) collector_->replay(record);
  if (!checkpoints_->same_size()) collector_->begin_at(*checkpoints_->resumed_step);
}

std::vector<double> JobRun::credits() const {
  const auto& link_credits = e_.world().link_credits;
  return link_credits && launched_ ? link_credits(runtime_) : std::vector<double>();
}

void JobRun::make_collector(const WorkloadFactory& workload) {
  collector_.emplace(Collector::Options{.ranks = layout_.ranks(),
                                        .trainers = workers_.count(),
                                        .arrived = arrived_ ? &*arrived_ : nullptr,
                                        .steps = static_cast<long>(e_.steps),
                                        .eval_every = static_cast<long>(e_.eval_every),
                                        .evaluates = workload.learns(),
                                        .waits = e_.synchronous(),
                                        .pause = pause_of(e_),
                                        .stopping = observer_.stopping()},
                     [this](const StepRecord& record) {
                       observer_.add(record);
                       output_.step(record);
                       if (checkpoints_) checkpoints_->records.push_back(record);
                     });
}

void JobRun::rank_main(const Context& raw) { trigram::rank_main(raw, *shared_); }

Json JobRun::to_json(double wall_s) {
  const SimulatedSpan& span = shared_->span;
  Json trace = timeline_.to_json(span.in_job ? std::optional(0.0) : std::nullopt);
  if (shared_->simulated) add_routes(trace, *make_network(e_.cluster), layout_);
  output_.timeline(trace);
  Json json = observer_.to_json(shared_->results, wall_s);
  json["world"] = runtime_.notes();
  if (const std::string warning = unequal_nics_warning(json["world"]); !warning.empty())
    json["warnings"].push_back(warning);
  if (checkpoints_) {
    json["checkpoint"] = checkpoints_->to_json();
    for (const std::string& note : checkpoints_->notes) json["warnings"].push_back(note);
  }
  if (membership_) {
    json["failures"] = absences_json(*membership_, e_, json);
    if (const std::string warning = late_rounds_warning(json["failures"]); !warning.empty())
      json["warnings"].push_back(warning);
  }
  json["cost"] =
      run_cost(e_.cluster, json, workers_.count() > 0 ? workers_.count() : layout_.ranks());
  if (shared_->tuner) json["autotune"] = shared_->tuner->to_json();
  return json;
}

}  // namespace trigram
