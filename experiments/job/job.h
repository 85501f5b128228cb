#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/plan.h"
#include "experiments/results/cores.h"

// `trigram` as a process of a job that mpirun or srun has started.

namespace trigram {

/// True if a launcher has started this process.
bool in_a_job();
/// True if the launcher has also started other processes.
bool has_other_processes();
/// The rank of this process in its job; 0 outside a job.
int rank_in_job();

/// A process of a job calls this before anything else. Opens the process's own log,
/// `folder`/rank-R.log; no log if `folder` is empty, ConfigError if it cannot be written. If a
/// signal ends the process later, e.g. because the launcher has lost another process, the process
/// says what it was waiting for, and rank 0 also prints `parting`, which says what becomes of the
/// results.
void begin_in_job(const std::filesystem::path& folder = {}, const std::string& parting = "");

/// Throws ConfigError unless all runs of the plan are in worlds of processes and have as many
/// workers as the job has processes.
void check_for_job(const Plan& plan);

/// A command's name and its resolved options, {"--iters": 3}. They must be equal in all processes.
struct Invocation {
  std::string command;
  Json options = Json::object();
};

/// A plan, and whether the processes of a job make its runs together.
struct PlanInJob {
  Plan plan;
  bool job;
};
/// Returns the plan that `make` makes. In a job, all processes must have the same invocation and
/// the same plan; if not, or if one has an error, all throw the same error. A single process that
/// srun has started for worlds that are not worlds of processes, e.g. from a shell in an
/// allocation, does not count as a job; `make` is told so.
PlanInJob plan_here_or_in_job(const Invocation& invocation,
                              const std::function<Plan(bool in_job)>& make);

/// For commands without a plan. `resolve` returns the options, including the resolved world as
/// "--runtime". In a job it is called after begin_in_job, and errors are thrown as above. Returns
/// true in a job.
bool resolve_here_or_in_job(const std::string& command, const std::function<Json()>& resolve);

/// For a command line that cannot be parsed or is not meant for a job. In a job, throws unless all
/// processes have the same error.
void agree_on_error(const std::string& error, const std::string& command = "");

/// Which runs to make, as rank 0 decided. Collective over the processes of the job.
std::vector<bool> agree_on_runs(const Plan& plan, const std::vector<bool>& wanted_by_rank_0);

/// The cores available to the job. Collective over its processes, which may arrive up to
/// `watchdog_s` seconds apart.
Cores agree_on_cores(double watchdog_s);

/// The watchdog's timeout in seconds of a resolved world of processes; of a plan, the longest of
/// its runs.
double watchdog_s(const Json& runtime);
double watchdog_s(const Plan& plan);

}  // namespace trigram
