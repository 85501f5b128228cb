#include "netmodels/fragments.h"

#include <algorithm>

namespace trigram {

std::vector<double> nic_bandwidths(const Cluster& cluster) {
  std::vector<double> nic_Bps;
  for (int node = 0; node < cluster.nodes; ++node)
    nic_Bps.push_back(std::min(cluster.transport.goodput * cluster.nic_bandwidth(node),
                               cluster.transport.node_cap_Bps));
  return nic_Bps;
}

std::size_t fragment_bytes(const std::vector<double>& nic_Bps) {
  const double slowest_Bps = *std::min_element(nic_Bps.begin(), nic_Bps.end());
  return static_cast<std::size_t>(std::clamp(1e-3 * slowest_Bps, 4096.0, 131072.0));
}

std::size_t eager_bytes(const std::vector<double>& nic_Bps) {
  constexpr std::size_t kMostHeaders = 256;
  return fragment_bytes(nic_Bps) - kMostHeaders;
}

}  // namespace trigram
