#pragma once

#include <string>
#include <vector>

#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"

namespace trigram {

/// A link between two workers on an emulated network: as the cluster describes it, and as a message
/// between them found it.
struct CheckedLink {
  std::string name;  // such as "between nodes, 0 > 1"
  LinkSpec configured, achieved;
  /// The larger relative error of the two, with its sign; a latency of 0 has none.
  double off() const;
  /// More than 5 % off: results are not those of the network that was asked for.
  bool warns() const;
};

/// Measures one pair of workers for each sort of link, most for kMostLinks, in the emulated world
/// of an experiment: messages without bytes, and one that takes a fifth of a second. Throws what
/// ends that world.
std::vector<CheckedLink> check_links(const Experiment& experiment, const WorkloadFactory& workload);

/// "links" of a manifest.
Json to_json(const std::vector<CheckedLink>& links);
/// For people: configured beside achieved.
std::string link_table(const std::vector<CheckedLink>& links);
/// Warns on stderr of each link that is off, for the run that `run` names.
void warn_of(const std::vector<CheckedLink>& links, const std::string& run);

}  // namespace trigram
