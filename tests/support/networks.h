#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "netmodels/cluster.h"

namespace trigram::test {

/// A cluster with a readable name for test cases.
struct NamedCluster {
  std::string name;
  Cluster cluster;
};
inline void PrintTo(const NamedCluster& named, std::ostream* out) { *out << named.name; }

/// `nodes` x `workers_per_node` workers connected by a topology. NICs have 1 GB/s and 10 us, ports
/// 10 GB/s and 1 us. Throws a ConfigError with pointers that begin with "/cluster" if the topology
/// does not fit.
Cluster cluster_with_topology(const Json& topology, int nodes, int workers_per_node = 1);

/// The options of the topology wan with `regions` regions of `nodes` nodes each, whose bandwidths
/// and delays all differ.
Json wan_options(int regions, int nodes);
/// The same with access links. 0 means no limit; later regions have none.
Json with_access_links(Json wan, const std::vector<int>& up_MBps,
                       const std::vector<int>& down_MBps);

/// Small networks of every topology and every kind of node, with fewer than 100 workers.
std::vector<NamedCluster> small_networks();
/// Larger networks, of hundreds of workers.
std::vector<NamedCluster> medium_networks();

}  // namespace trigram::test
