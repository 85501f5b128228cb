#pragma once

#include <functional>
#include <string>

#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"
#include "experiments/run/step_record.h"

namespace trigram {

/// Where the results of a run go while it is under way.
struct RunOutput {
  std::function<void(const StepRecord&)> step;  // in the order of steps
  std::function<void(const Json&)> timeline;    // once, after the last step
};

/// Makes one run in this process and returns its summary, with "warnings" that only show in the run
/// and, in a job on an emulated network, its "links". Throws what ends it: DivergenceError,
/// HangError, and whatever an algorithm, a workload or the runtime throws. A process can make one
/// run only, since SimGrid allows one engine per process; but any number in a world of processes,
/// where all of them call this together, and rank 0 alone writes output and gets a summary.
Json make_run(const Experiment& experiment, const WorkloadFactory& workload,
              const RunOutput& output);

}  // namespace trigram
