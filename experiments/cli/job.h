#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/plan.h"

// `trigram` as one of the processes of a job that mpirun or srun has started.

namespace trigram {

/// True when a launcher has started this process beside others, or alone for a world of processes.
bool in_a_job();
/// Of this process, in its job; 0 outside of one.
int rank_in_job();

/// Throws ConfigError unless a plan is one for a job: worlds of processes, with as many workers as
/// the job has processes.
void check_for_job(const Plan& plan);

/// The plan that `make` makes, if all processes of the job make the same one. Throws in all
/// processes alike, what is wrong with any of them.
Plan agree_on_plan(const std::function<Plan()>& make);

/// Which of the runs are to be made, as rank 0 knows.
std::vector<bool> agree_on_runs(const std::vector<bool>& wanted_by_rank_0);

}  // namespace trigram
