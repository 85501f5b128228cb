#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/plan.h"
#include "experiments/results/cores.h"

// `trigram` as one of the processes of a job that mpirun or srun has started.

namespace trigram {

/// True when a launcher has started this process.
bool in_a_job();
/// True when it has started others, too.
bool has_others_in_job();
/// Of this process, in its job; 0 outside of one.
int rank_in_job();

/// Before anything else that a process of a job does. It keeps a log of its own,
/// `folder`/rank-R.log (none where `folder` is empty; ConfigError where it cannot be written); and
/// when it is told to end, as by a launcher that has lost another process or by its user, it says
/// what it waited for, and on rank 0 `parting`, what becomes of what there is.
void begin_in_job(const std::filesystem::path& folder = {}, const std::string& parting = "");

/// Throws ConfigError unless a plan is one for a job: worlds of processes, with as many workers as
/// the job has processes.
void check_for_job(const Plan& plan);

/// What a command is called, and its options, resolved, that all processes must have alike:
/// {"--iters": 3}.
struct Invocation {
  std::string command;
  Json options = Json::object();
};

/// A plan, and whether the processes of a job make its runs together.
struct PlanInJob {
  Plan plan;
  bool job;
};
/// The plan that `make` makes, if all processes of the job are invoked alike and make the same one.
/// Throws in all processes alike, what is wrong with any of them. One process that srun has
/// started, alone, to make other worlds than those of processes is no job, as `make` is told: a
/// shell within an allocation is such a process.
PlanInJob plan_here_or_in_job(const Invocation& invocation,
                              const std::function<Plan(bool in_job)>& make);

/// For commands without a plan: `resolve` returns the options, with "--runtime", a resolved world.
/// In a job it is called once the process has begun there, and throws as above. Returns whether it
/// is one.
bool resolve_here_or_in_job(const std::string& command, const std::function<Json()>& resolve);

/// For a command line that cannot be read, or that is not for a job: throws in a job unless all
/// processes have the same error.
void agree_on_error(const std::string& error, const std::string& command = "");

/// Which of the runs are to be made, as rank 0 knows.
std::vector<bool> agree_on_runs(const Plan& plan, const std::vector<bool>& wanted_by_rank_0);

/// What all processes of the job, who call it together, have of cores; `watchdog_s` is how long
/// they may be apart.
Cores agree_on_cores(double watchdog_s);

/// How long a resolved world of processes lets one be silent; of a plan, the longest of its runs.
double watchdog_s(const Json& runtime);
double watchdog_s(const Plan& plan);

}  // namespace trigram
