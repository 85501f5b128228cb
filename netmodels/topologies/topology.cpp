#include "netmodels/topologies/topology.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trigram {
namespace {

/// A bandwidth that is dumped only if it differs from that of the NICs.
OptionType<double> bandwidth_or_that_of_nics() {
  OptionType<double> kind = quantity(Dimension::bandwidth, true);
  kind.dump = [dump = kind.dump](const double& Bps) { return Bps > 0 ? dump(Bps) : Json(); };
  return kind;
}

}  // namespace

FieldTable<SwitchLink> switch_link_fields(const std::string& prefix, const std::string& which) {
  return FieldTable<SwitchLink>{}
      .field(prefix + "bandwidth", &SwitchLink::bandwidth_Bps, bandwidth_or_that_of_nics(),
             "bandwidth of each direction of " + which + "; defaults to the bandwidth of a NIC")
      .field(prefix + "latency", &SwitchLink::latency_s, quantity(Dimension::duration),
             "latency of " + which + ", added to the end-to-end latency of `inter`");
}

Bisection least_cut(int nodes, int switches, int per_switch, double node_Bps,
                    const std::function<double(int)>& cut, const std::string& name) {
  const double half = std::floor(nodes / 2.0);
  double least = std::numeric_limits<double>::infinity();
  for (int r = 0; r <= switches; ++r)
    least =
        std::min(least, cut(r) + std::abs(static_cast<double>(r) * per_switch - half) * node_Bps);
  return or_at_nics({least, name}, nodes, node_Bps);
}

Bisection or_at_nics(const Bisection& cut, int nodes, double node_Bps) {
  const double at_nics = std::floor(nodes / 2.0) * node_Bps;
  return at_nics <= cut.bandwidth_Bps ? Bisection{at_nics, "NICs of half of the nodes"} : cut;
}

Vertex switch_vertex(std::string tier, std::string name) {
  return {Vertex::Kind::network_switch, std::move(tier), std::move(name), -1};
}

}  // namespace trigram
