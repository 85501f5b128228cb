#pragma once

#include <string>
#include <vector>

#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"

namespace trigram {

/// A link between two workers on an emulated network: its description in the cluster, and the
/// properties that messages between the workers measured.
struct CheckedLink {
  std::string name;  // such as "between nodes, 0 > 1"
  LinkSpec configured, achieved;
  /// The relative error of bandwidth or latency with its sign, whichever is larger. A configured
  /// latency of 0 counts as exact.
  double off() const;
  /// True if the link is off by more than 5 %, so that results are not those of the requested
  /// network.
  bool warns() const;
};

/// Measures the links of the experiment's emulated world, with empty messages and with a message
/// that takes 0.2 s. It measures one pair of workers for each kind of link, and at most kMostLinks
/// pairs. Throws if that world fails.
std::vector<CheckedLink> check_links(const Experiment& experiment, const WorkloadFactory& workload);

/// The value of "links" in a manifest.
Json to_json(const std::vector<CheckedLink>& links);
/// A table for people that shows the configured and the achieved values side by side.
std::string link_table(const std::vector<CheckedLink>& links);
/// Logs a warning for each link that is off by more than 5 %. `run` names the run in the warning.
void warn_of(const std::vector<CheckedLink>& links, const std::string& run);

}  // namespace trigram
