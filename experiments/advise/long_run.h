#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/config/experiment.h"

namespace trigram {

/// Steps that a timing run of this experiment should have, so that it shows what its algorithm
/// costs in the long run: after the algorithm's warm-up as many as the experiment says, and at
/// least some cycles, whole ones. An algorithm whose first cycle ends too late for a simulation
/// keeps the steps of the experiment.
long long_run_steps(const Experiment& experiment);

/// Steps of the next, longer run of an experiment whose finished run of so many `steps`, given its
/// summary, was too short: twice as many. None where this would be too long for a simulation, or
/// where the run reached its target before the end, so that a longer one ends there, too.
std::optional<long> longer_run_steps(long steps, const Json& summary);

/// How many steps a run of an experiment needs to be long enough, given the summary of one that was
/// too short, as far as that is known.
long needed_steps(const Experiment& experiment, const Json& summary);

/// Steps between evaluations in a run of this experiment that is to show when it reaches an
/// accuracy: so few that a run has up to some hundred evaluations, or as many as the experiment
/// says where that is `asked` for. Workers that average every H steps have a common model after an
/// average alone, so these steps are a multiple of H, where the run is as long.
long evaluated_every(const Experiment& experiment, bool asked);

/// Which changes of the network in time the runs keep as the cluster describes them.
struct Kept {
  bool credit = false, changes = false;
};

/// Puts the network between the nodes of a cluster description into the state in which it stays:
/// token buckets begin without credit that was saved before the run, and links are what their last
/// change makes of them. Otherwise runs that end before that would be compared with runs that end
/// after it. Returns a sentence for each thing that it has changed.
std::vector<std::string> settle_network(Json& cluster, Kept kept);

/// Warnings of what is kept, given the cluster.
std::vector<std::string> unsettled(const Cluster& cluster, Kept kept);

}  // namespace trigram
