#pragma once

#include <functional>
#include <span>

#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"
#include "experiments/config/jobs.h"
#include "experiments/run/checkpoints.h"
#include "experiments/run/rank_main.h"
#include "experiments/run/step_record.h"

namespace trigram {

/// Receives the results of a run while it is running.
struct RunOutput {
  std::function<void(const StepRecord&)> step;  // in the order of steps
  std::function<void(const Json&)> timeline;    // once, after the last step
};

/// Makes one run in this process and returns its summary. The summary has "warnings" that only the
/// run itself can reveal and, for a job on an emulated network, its "links". Throws if training
/// diverges or hangs (HangError), and passes on exceptions of algorithms, workloads and the
/// runtime. In the simulated world a process can make only one run, because SimGrid allows one
/// engine per process. If ranks are processes, the call is collective, any number of runs is
/// possible, and only rank 0 writes output and gets a summary (other ranks get null).
/// `span` is used only in the simulated world. `place` is used only if the experiment has
/// checkpoints. A run that does not resume removes the checkpoints that are there. `others` are the
/// jobs that share the network with the experiment; the run ends when the experiment does.
Json make_run(const Experiment& experiment, const WorkloadFactory& workload,
              const RunOutput& output, const CheckpointPlace& place = {},
              const SimulatedSpan& span = {}, std::span<const JobBeside> others = {});

}  // namespace trigram
