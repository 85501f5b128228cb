#include "experiments/config/resized.h"

#include <algorithm>

#include "netmodels/partitions.h"

namespace trigram {
namespace {

bool fits(const Failure& event, const Cluster& cluster) {
  Cluster with_event = cluster;
  with_event.failures.events = {event};
  try {
    check_failures(with_event.failures, cluster.nodes, cluster.workers_per_node, "");
    check_partitions(with_event, "");
  } catch (const ConfigError&) {
    return false;
  }
  return true;
}

}  // namespace

Experiment with_nodes(const Experiment& e, std::int64_t nodes) {
  static const FieldTable<Cluster> fields = cluster_fields();
  Json description = fields.dump(e.cluster);
  description["nodes"] = nodes;
  description.erase("failures");
  Experiment resized = e;
  resized.cluster = parse_cluster(description, "/cluster");
  resized.cluster.failures = e.cluster.failures;
  std::erase_if(resized.cluster.failures.events, [&](const Failure& event) {
    return !event.has({Failure::Kind::freeze, Failure::Kind::partition}) ||
           !fits(event, resized.cluster);
  });
  return resized;
}

}  // namespace trigram
