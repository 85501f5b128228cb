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

/// `nodes` x `workers_per_node` workers connected by a topology, with NICs of 1 GB/s and 10 us, and
/// ports of 10 GB/s and 1 us. Throws ConfigError, with pointers from "/cluster".
Cluster joined_by(const Json& topology, int nodes, int workers_per_node = 1);

/// The options of a wan of `regions` regions of `nodes` nodes each, with bandwidths and delays that
/// all differ.
Json wan_of(int regions, int nodes);

/// Small networks of every topology and every kind of node; a few dozen workers at most.
std::vector<NamedCluster> small_networks();
/// Larger networks, of hundreds of workers.
std::vector<NamedCluster> medium_networks();

}  // namespace trigram::test
