#include "experiments/run/run.h"

#include <chrono>
#include <cstdio>
#include <utility>

#include "experiments/config/real_time_match.h"
#include "experiments/run/job_links.h"
#include "experiments/run/job_run.h"
#include "experiments/run/other_jobs.h"
#include "runtime/mpi/mpi_runtime.h"

namespace trigram {
namespace {

using Clock = std::chrono::steady_clock;

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

}  // namespace

Json make_run(const Experiment& e, const WorkloadFactory& workload, const RunOutput& output,
              const CheckpointPlace& place, const SimulatedSpan& span,
              std::span<const JobBeside> others) {
  const auto runtime = e.world().make(e.runtime, e.cluster, workload);
  JobRun own(e, workload, *runtime, output, place, span);
  OtherJobs beside(e, others, *runtime);
  const Json links = measure_links(e, *runtime);
  const auto started = Clock::now();
  own.begin();
  if (span.end_s) e.world().end_at(*runtime, *span.end_s);
  runtime->launch(own.layout(),
                  beside.from_start([&own](const Context& raw) { own.rank_main(raw); }));
  const double wall_s = std::chrono::duration<double>(Clock::now() - started).count();

  if (e.world().processes && mpi_process().rank > 0) return nullptr;
  Json json = own.to_json(wall_s);
  if (!links.is_null()) json["links"] = links;
  beside.add_to(json);
  return json;
}

}  // namespace trigram
