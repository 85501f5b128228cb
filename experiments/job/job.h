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

/// A process of a job calls this before anything else. Unless `folder` is empty, opens the
/// process's own log, `folder`/rank-R.log; throws ConfigError if the log cannot be written. If a
/// signal ends the process later, for example because the launcher has lost another process, the
/// process says what it was waiting for, and rank 0 also prints `parting`, which says what becomes
/// of the results.
void begin_in_job(const std::filesystem::path& folder = {}, const std::string& parting = "");

/// Throws ConfigError unless all runs of the plan are in worlds of processes and have as many
/// workers as the job has processes.
void check_for_job(const Plan& plan);

/// Sets the arguments of this process's command line, which must be equal in all processes of a
/// job. The functions below compare them.
void set_job_arguments(std::vector<std::string> arguments);

/// The arguments of begin_in_job.
struct JobBegin {
  std::filesystem::path rank_logs = {};
  std::string parting = {};
};

/// A plan, and whether the processes of a job make its runs together.
struct PlanInJob {
  Plan plan;
  bool job;
};
/// Returns the plan that `make` returns. In a job, only rank 0 calls `make` and reads the
/// configuration; the other processes receive the plan, and check that they have the same arguments
/// and input files. If one process has an error, all processes throw the same error. A single
/// process that srun has started, for example from a shell in an allocation, does not count as a
/// job unless a run is in a world of processes. `make` is called with `in_job` false for a single
/// process.
PlanInJob plan_here_or_in_job(const std::function<Plan(bool in_job)>& make,
                              const JobBegin& begin = {});

/// For commands without a plan. `read` returns the inputs that depend on files, and the resolved
/// world as "runtime"; in a job, only rank 0 calls it. All processes then call `use` with its
/// result. If one process has an error, all processes throw it. Returns true in a job.
bool resolve_here_or_in_job(const std::function<Json()>& read,
                            const std::function<void(const Json&)>& use);

/// For a command line that cannot be parsed or is not meant for a job. In a job, throws an error
/// with this text, or one that names the ranks if not all have the same arguments.
void agree_on_error(const std::string& error);

/// Returns, on all processes of the job, which runs rank 0 wants to make. Collective.
std::vector<bool> agree_on_runs(const Plan& plan, const std::vector<bool>& wanted_by_rank_0);

/// The cores available to the job. Collective over its processes, which may call it up to
/// `watchdog_s` seconds apart.
Cores agree_on_cores(double watchdog_s);

/// The timeout of the watchdog, in seconds, of a resolved world of processes, or the longest
/// timeout of the runs of a plan.
double watchdog_s(const Json& runtime);
double watchdog_s(const Plan& plan);

}  // namespace trigram
