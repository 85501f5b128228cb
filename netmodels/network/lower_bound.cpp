#include "netmodels/network/lower_bound.h"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "core/check.h"

namespace trigram {
namespace {

/// Combines all links from a switch to other switches into one exit link, if only one node is
/// attached to the switch. A switch with several nodes has no exit link, because it is unknown how
/// much of the nodes' traffic leaves the switch.
class Exits {
 public:
  explicit Exits(const Network& network) : switches_(network.vertices().size()) {
    if (network.nodes() == 1) return;
    std::vector<LinkId> links;
    for (int rank = 0; rank < network.ranks(); ++rank) {
      links.clear();
      network.injection(rank, false, links);
      Switch& at = switches_[static_cast<std::size_t>(network.link(links.back()).to)];
      const int node = network.vertex(network.worker(rank)).node;
      if (at.node == kNone) at.node = node;
      if (at.node != node) at.node = kSeveral;
    }
    for (const Link& link : network.links()) {
      if (network.vertex(link.from).kind != kSwitch || network.vertex(link.to).kind != kSwitch)
        continue;
      Switch& at = switches_[static_cast<std::size_t>(link.from)];
      Link& all = at.out;
      all.latency_s =
          all.bandwidth_Bps == 0 ? link.latency_s : std::min(all.latency_s, link.latency_s);
      all.bandwidth_Bps += link.bandwidth_Bps;
      all.varies = link.varies;
    }
  }
  /// The exit link for messages to other nodes that reach a switch over `last`; null if the switch
  /// has none.
  const Link* exit_after(const Link& last) const {
    const Switch& at = switches_[static_cast<std::size_t>(last.to)];
    return at.node >= 0 && at.out.bandwidth_Bps > 0 ? &at.out : nullptr;
  }

 private:
  static constexpr auto kSwitch = Vertex::Kind::network_switch;
  static constexpr int kNone = -1, kSeveral = -2;
  struct Switch {
    int node = kNone;
    Link out;
  };
  std::vector<Switch> switches_;  // by vertex
};

/// The load on the first links of routes: the links of `Network::injection`, and exit links.
class Injection {
 public:
  Injection(const Network& network, double start_s)
      : network_(network), start_s_(start_s), exits_(network), loads_(network.links().size()) {}

  /// Adds `bytes` bytes that a rank sends inside its node, or to other nodes.
  void add(int rank, bool inside, std::uint64_t bytes) {
    links_.clear();
    network_.injection(rank, inside, links_);
    const double latency_s = network_.latency(links_);
    for (const LinkId id : links_) add(loads_[static_cast<std::size_t>(id)], bytes, latency_s);
    if (inside) return;
    if (const Link* exit = exits_.exit_after(network_.link(links_.back())))
      add(exit_loads_[exit], bytes, latency_s + exit->latency_s);
  }

  double seconds() const {
    const double latency_factor = least_latency_factor();
    double most = 0;
    for (std::size_t id = 0; id < loads_.size(); ++id)
      if (loads_[id].latency_s < kUnused)
        most = std::max(
            most, end_s(network_.links()[id], start_s_ + latency_factor * loads_[id].latency_s,
                        loads_[id].bytes));
    for (const auto& [exit, load] : exit_loads_)
      most = std::max(most, end_s(*exit, start_s_ + latency_factor * load.latency_s, load.bytes));
    return most;
  }

 private:
  /// The earliest time at which a link can have carried `bytes` bytes, beginning at `start_s`.
  double end_s(const Link& link, double start_s, double bytes) const {
    if (link.varies) return varying_end_s(link.bandwidth_Bps, start_s, bytes);
    const double burst_end_s = start_s + bytes / link.bandwidth_Bps;
    if (!link.shaped()) return burst_end_s;
    const double credit_bytes =
        std::min(link.credit_depth_bytes, link.credit_initial_bytes + link.refill_Bps * start_s);
    return std::max(burst_end_s, start_s + (bytes - credit_bytes) / link.refill_Bps);
  }

  double varying_end_s(double bandwidth_Bps, double start_s, double bytes) const {
    double now_s = start_s, factor = 1;
    for (const LinkChange& change : network_.profile()) {
      const double carried = bandwidth_Bps * factor * (change.at_s - now_s);
      if (carried >= bytes) break;
      if (change.at_s > now_s) {
        bytes -= carried;
        now_s = change.at_s;
      }
      factor = change.bandwidth_factor;
    }
    return now_s + bytes / (bandwidth_Bps * factor);
  }

  double least_latency_factor() const {
    const auto profile = network_.profile();
    double least = profile.empty() || profile.front().at_s > 0 ? 1 : profile.front().latency_factor;
    for (const LinkChange& change : profile) least = std::min(least, change.latency_factor);
    return least;
  }

  static constexpr double kUnused = std::numeric_limits<double>::infinity();
  struct Load {
    double bytes = 0;
    double latency_s = kUnused;  // least latency of all senders that use the link
  };
  static void add(Load& load, std::uint64_t bytes, double latency_s) {
    load.bytes += static_cast<double>(bytes);
    load.latency_s = std::min(load.latency_s, latency_s);
  }
  const Network& network_;
  const double start_s_;
  Exits exits_;
  std::map<const Link*, Load> exit_loads_;
  std::vector<Load> loads_;  // by link
  std::vector<LinkId> links_;
};

}  // namespace

double lower_bound(const Network& network, std::span<const Traffic> sent, double start_s) {
  TRIGRAM_CHECK(sent.size() == static_cast<std::size_t>(network.ranks()),
                "the traffic of {} ranks on a network of {}", sent.size(), network.ranks());
  Injection injection(network, start_s);
  for (int rank = 0; rank < network.ranks(); ++rank) {
    const Traffic& traffic = sent[static_cast<std::size_t>(rank)];
    if (traffic.messages_intra > 0) injection.add(rank, true, traffic.bytes_intra);
    if (traffic.messages_inter > 0) injection.add(rank, false, traffic.bytes_inter);
  }
  return injection.seconds();
}

}  // namespace trigram
