#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/config/experiment.h"

namespace trigram {

/// The number of steps with which a timing run of this experiment shows its algorithm's long-run
/// cost. After the warm-up it has at least as many steps as the experiment, rounded up to whole
/// cycles, and at least some cycles. If the first cycle ends too late for a simulation, the number
/// of steps is not changed.
long long_run_steps(const Experiment& experiment);

/// The number of steps of the next run after a finished run of `steps` steps was too short, given
/// the summary of that run: twice as many. Empty if that would take too long to simulate, or if the
/// run reached its target before its end, as a longer run would.
std::optional<long> longer_run_steps(long steps, const Json& summary);

/// The number of steps that a run of an experiment needs, as far as known, given the summary of a
/// run that was too short.
long needed_steps(const Experiment& experiment, const Json& summary);

/// The number of steps between evaluations in a run of this experiment that measures the time to an
/// accuracy: It is small enough for some hundred evaluations in a run, unless the user `asked` for
/// the experiment's own interval. Workers that average every H steps have a common model only after
/// an average, so the result is a multiple of H if the run has at least H steps.
long evaluated_every(const Experiment& experiment, bool asked);

/// The changes of the network over time that runs keep as the cluster describes them.
struct KeptChanges {
  bool credit = false, changes = false;
};

/// Changes the network between the nodes of a cluster description to its long-run state: token
/// buckets begin without saved credit, and links have the properties of their last change.
/// Otherwise, runs that end before the change would be compared with runs that end after it.
/// Returns a sentence for each change made.
std::vector<std::string> use_long_run_network(Json& cluster, KeptChanges kept);

/// Warnings about the changes over time that are kept, given the cluster.
std::vector<std::string> kept_change_warnings(const Cluster& cluster, KeptChanges kept);

}  // namespace trigram
