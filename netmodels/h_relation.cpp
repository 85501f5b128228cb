#include "netmodels/h_relation.h"

#include <algorithm>
#include <cmath>

namespace trigram {

HRelation::HRelation(const Network& network, const Cluster& cluster, Pattern traffic)
    : network_(network),
      cluster_(cluster),
      traffic_(traffic),
      all_(network.links().size()),
      between_(network.links().size()) {}

void HRelation::add(int source, std::span<const Rounds::Sent> sent) {
  const Transport& transport = cluster_.transport;
  to_s_.assign(static_cast<std::size_t>(network_.ranks()), 0);
  for (const Rounds::Sent& message : sent) {
    const bool inside = cluster_.node_of(source) == cluster_.node_of(message.to);
    auto nbytes = static_cast<double>(message.bytes);
    if (!inside) nbytes = std::round(nbytes / transport.efficiency.of(traffic_));
    any_between_ = any_between_ || !inside;
    double& connection_s = to_s_[static_cast<std::size_t>(message.to)];
    connection_s += nbytes / network_.connection_cap(source, message.to);
    if (!inside) connection_s += static_cast<double>(message.messages) * transport.per_message_s();
    connections_s_ =
        std::max({connections_s_, connection_s,
                  nbytes / network_.message_cap(source, message.to, traffic_,
                                                nbytes / static_cast<double>(message.messages))});
    route_.clear();
    network_.route(source, message.to, route_);
    for (const LinkId link : route_) {
      all_[static_cast<std::size_t>(link)] += nbytes;
      if (!inside) between_[static_cast<std::size_t>(link)] += nbytes;
    }
  }
  if (any_between_) overhead_s_ = transport.stage_overhead_s;
}

double HRelation::fullest_s(const std::vector<double>& load) const {
  double seconds = 0;
  for (std::size_t id = 0; id < load.size(); ++id)
    seconds = std::max(seconds, load[id] / network_.links()[id].bandwidth_Bps);
  return seconds;
}

HRelation::Flow HRelation::flow(const CoupledRounds& all) const {
  constexpr int kMost = 64;
  const std::vector<double>& load = any_between_ ? between_ : all_;
  const double seconds = fullest_s(load);
  // As often as the slowest link, if that is the fullest, is passed by `kMost` parts of its load.
  // No link has less than its load, or flows beside each other could end before their bytes are
  // through.
  constexpr double kRounding = 1e-9;
  const double part = seconds * all.bandwidth() / all.share() / kMost;
  std::vector<int> times(load.size());
  for (std::size_t id = 0; id < load.size() && part > 0; ++id)
    times[id] = static_cast<int>(std::ceil(load[id] / part - kRounding));
  return {all.repeated(times, kMost), part * all.share()};
}

double HRelation::least_s() const { return std::max(fullest_s(all_), connections_s_); }

}  // namespace trigram
