#include "netmodels/lower_bound.h"

#include <algorithm>
#include <vector>

#include "core/check.h"

namespace trigram {

double lower_bound(const Cluster& cluster, std::span<const Traffic> ranks) {
  TRIGRAM_CHECK(ranks.size() == static_cast<std::size_t>(cluster.ranks()),
                "the traffic of {} ranks on a cluster of {}", ranks.size(), cluster.ranks());
  double bound = 0;
  std::vector<double> nic_bytes(static_cast<std::size_t>(cluster.nodes));
  std::vector<bool> nic_used(nic_bytes.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const Traffic& sent = ranks[rank];
    if (sent.messages_intra > 0)
      bound = std::max(
          bound, cluster.intra.latency_s + static_cast<double>(sent.bytes_intra) /
                                               cluster.port_bandwidth(static_cast<int>(rank)));
    if (sent.messages_inter > 0) {
      const auto node = static_cast<std::size_t>(cluster.node_of(static_cast<int>(rank)));
      nic_bytes[node] += static_cast<double>(sent.bytes_inter);
      nic_used[node] = true;
    }
  }
  for (std::size_t node = 0; node < nic_bytes.size(); ++node)
    if (nic_used[node])
      bound = std::max(bound, cluster.inter.latency_s +
                                  nic_bytes[node] / cluster.nic_bandwidth(static_cast<int>(node)));
  return bound;
}

}  // namespace trigram
