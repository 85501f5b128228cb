#include "experiments/config/plan_json.h"

#include <map>

#include "experiments/config/feasibility.h"
#include "experiments/config/inputs.h"

namespace trigram {

Json to_json(const Plan& plan) {
  Json runs = Json::array();
  for (const PlannedRun& run : plan.runs)
    runs.push_back({{"id", run.id},
                    {"experiment", run.resolved},
                    {"coordinates", run.coordinates},
                    {"inputs", run.inputs}});
  return {{"name", plan.name}, {"runs", std::move(runs)}};
}

Plan plan_from_json(const Json& json) {
  const FieldTable<Experiment> fields = experiment_fields("");  // all paths are absolute
  std::map<Json, std::shared_ptr<const WorkloadFactory>> workloads;
  Plan plan{json.at("name"), {}};
  for (const Json& j : json.at("runs")) {
    PlannedRun run;
    run.id = j.at("id");
    run.experiment = fields.parse(j.at("experiment"), "");
    run.resolved = j.at("experiment");
    run.coordinates = j.at("coordinates");
    run.inputs = j.at("inputs");
    auto& workload = workloads[run.experiment.workload];
    if (!workload) {
      check_inputs(run.inputs);
      workload = make_workload_factory(run.experiment.workload, "/workload");
    }
    run.workload = workload;
    check_feasible(run.experiment, *workload, true, false);
    plan.runs.push_back(std::move(run));
  }
  return plan;
}

}  // namespace trigram
