#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/config/experiment.h"

namespace trigram {

/// The number of steps with which a timing run of this experiment shows its algorithm's long-run
/// cost: the warm-up, and then whole cycles with at least as many steps as the experiment has, and
/// as the means per step and workers that leave lock step need. If these are too many steps to
/// simulate, returns the experiment's own number of steps.
long long_run_steps(const Experiment& experiment);

/// A run is not made longer than this, in steps and in messages that it is expected to send.
struct RunLimits {
  long steps;
  double messages;
};
/// Simulating so many messages takes some ten seconds.
constexpr RunLimits kLongestRun{5000, 1e7};
/// The same where nothing but the lead of the run says that it may be too short.
constexpr RunLimits kLongestToConfirm{10'240, 1e6};

/// The number of steps of the next run after a finished run of `steps` steps was too short, given
/// the summary of that run: twice as many, or as many as `limits` has. Empty if that would send too
/// many messages, or if the run ended early because it reached its target while every worker still
/// had steps to make; a longer run would do the same.
std::optional<long> longer_run_steps(long steps, const Json& summary, const RunLimits& limits);

/// The number of steps that a run of an experiment needs, as far as known, given the summary of a
/// run that was too short.
long needed_steps(const Experiment& experiment, const Json& summary);

/// The number of steps between evaluations in a run of this experiment that measures the time to a
/// target. It is small enough for 200 evaluations in a run of as many steps, unless the
/// experiment's own interval was `set_by_user`. Workers that average every H steps have a common
/// model only after an average, so the result is a multiple of H if the run has at least H steps.
long advised_eval_every(const Experiment& experiment, bool set_by_user);

/// The changes of the network over time that runs keep as the cluster describes them: the initial
/// credit of token buckets, and the changes of links (/cluster/inter/profile).
struct KeptChanges {
  bool credit = false, changes = false;
};

/// Changes the network between the nodes of a cluster description to its long-run state: token
/// buckets begin without saved credit, and links have their properties after their last change.
/// Otherwise, runs that end before a change of the network would be compared with runs that end
/// after it. Returns a sentence for each modification of the description.
std::vector<std::string> use_long_run_network(Json& cluster, KeptChanges kept);

/// Warnings about the changes over time that are kept, given the cluster.
std::vector<std::string> kept_change_warnings(const Cluster& cluster, KeptChanges kept);

/// Says which rows may be too fast: of the candidates `names`, whose workers may leave lock step,
/// only those that would be first are run for as long as that may take.
std::string lock_step_note(const std::vector<std::string>& names);

/// Warnings about the random parts of results on this experiment's cluster. If computation times,
/// delays or traffic are drawn at random, each row of the answer is one draw over a limited number
/// of steps. If the experiment has a target, rows are times to it, which depend on a single seed.
std::vector<std::string> randomness_warnings(const Experiment& experiment);

}  // namespace trigram
