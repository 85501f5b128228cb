#pragma once

#include <string>
#include <vector>

#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"

namespace trigram {

/// A link between two workers on an emulated network: the properties that the cluster describes,
/// and the properties that were measured with messages between the workers.
struct CheckedLink {
  std::string name;  // such as "between nodes, 0 > 1"
  LinkSpec configured, achieved;
  /// The relative error, with its sign, of the bandwidth or of the latency, whichever is larger in
  /// magnitude. A configured latency of 0 counts as exact.
  double largest_error() const;
  /// True if this error exceeds 5 %, so that results do not apply to the described network.
  bool deviates() const;
};

/// Measures the links of the experiment's emulated network, with empty messages and with a message
/// that takes 0.2 s. It measures one pair of workers for each kind of link, and at most six pairs.
/// Throws if the world fails.
std::vector<CheckedLink> check_links(const Experiment& experiment, const WorkloadFactory& workload);

/// The value of "links" in a manifest.
Json to_json(const std::vector<CheckedLink>& links);
/// A table for people that shows the configured and the achieved values side by side.
std::string link_table(const std::vector<CheckedLink>& links);
/// Logs a warning for each link that deviates. `run` names the run in the warning.
void warn_about(const std::vector<CheckedLink>& links, const std::string& run);

}  // namespace trigram
