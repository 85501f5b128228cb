#include "netmodels/h_relation.h"

#include <algorithm>
#include <cmath>

namespace trigram {

HRelation::HRelation(const Network& network, const Cluster& cluster, TrafficClass traffic)
    : network_(network),
      cluster_(cluster),
      traffic_(traffic),
      load_(network.links().size()),
      inter_node_load_(network.links().size()) {}

void HRelation::add(int source, std::span<const CollectivePattern::Sent> sent) {
  const Transport& transport = cluster_.transport;
  const bool limited =
      transport.limits_connections(Rate::sustained) || transport.per_message_s() > 0;
  connection_to_.clear();
  for (const CollectivePattern::Sent& message : sent) {
    const bool inside = cluster_.node_of(source) == cluster_.node_of(message.to);
    auto nbytes = static_cast<double>(message.bytes);
    if (!inside) nbytes = std::round(nbytes / transport.efficiency.share(traffic_));
    any_inter_node_ = any_inter_node_ || !inside;
    if (!inside && limited) {
      const auto [found, is_new] = connection_to_.try_emplace(message.to, connections_.size());
      if (is_new) connections_.push_back({source, message.to});
      const auto messages = static_cast<double>(message.messages);
      const double message_Bps =
          network_.message_cap(source, message.to, traffic_, nbytes / messages, Rate::burst);
      Connection& connection = connections_[found->second];
      connection.nbytes[message.answers] += nbytes;
      connection.busy_s += messages * transport.per_message_s();
      connection.longest_s = std::max(connection.longest_s, nbytes / message_Bps);
    }
    route_.clear();
    network_.route(source, message.to, route_);
    for (const LinkId link : route_) {
      load_[static_cast<std::size_t>(link)] += nbytes;
      if (!inside) inter_node_load_[static_cast<std::size_t>(link)] += nbytes;
    }
  }
  if (any_inter_node_) overhead_s_ = transport.stage_overhead_s;
}

double HRelation::connection_s(const Connection& c, double start_s,
                               const WindowOf& window_of) const {
  const Transport& transport = cluster_.transport;
  const double cap_Bps =
      network_.connection_cap(c.source, c.destination, TrafficClass::collective, Rate::burst);
  double seconds = std::max(c.longest_s, (c.nbytes[0] + c.nbytes[1]) / cap_Bps + c.busy_s);
  if (!transport.tcp.has_window()) return seconds;
  // `nbytes` is already divided by the pattern's share of the bandwidth, so it is multiplied here.
  const double share = transport.efficiency.share(traffic_);
  const TcpPath path{.streams = static_cast<double>(transport.total_streams(traffic_)),
                     .rate_Bps = share * network_.bandwidth(c.source, c.destination, Rate::burst),
                     .round_trip_s = 2 * network_.latency(c.source, c.destination),
                     .busy_s = c.busy_s};
  for (const bool answers : {false, true}) {
    const double nbytes = c.nbytes[answers];
    if (nbytes == 0) continue;
    TcpWindow& window = window_of(c.source, c.destination, answers);
    seconds = std::max(seconds,
                       window.send(transport.tcp, path, start_s, share * nbytes).end_s - start_s);
  }
  return seconds;
}

double HRelation::longest_link_s(const std::vector<double>& load) const {
  double seconds = 0;
  for (std::size_t id = 0; id < load.size(); ++id)
    seconds = std::max(seconds, load[id] / network_.links()[id].bandwidth_Bps);
  return seconds;
}

HRelation::Flow HRelation::flow(const CoupledRounds& rounds) const {
  constexpr int kMost = 128;
  const std::vector<double>& load = any_inter_node_ ? inter_node_load_ : load_;
  const double seconds = longest_link_s(load);
  // If the slowest link is also the most loaded one, the flow passes it `kMost` times, each time
  // with the same part of its load.
  const double part = seconds * rounds.bandwidth() / rounds.share() / kMost;
  constexpr double kRounding = 1 - 1e-9;
  std::vector<int> times(load.size());
  for (std::size_t id = 0; id < load.size() && part > 0; ++id)
    times[id] = static_cast<int>(std::ceil(load[id] / part * kRounding));
  return {rounds.repeated(times, kMost), part * rounds.share()};
}

double HRelation::min_duration_s(double start_s, const WindowOf& window_of) const {
  double seconds = longest_link_s(load_);
  for (const Connection& c : connections_)
    seconds = std::max(seconds, connection_s(c, start_s, window_of));
  return seconds;
}

}  // namespace trigram
