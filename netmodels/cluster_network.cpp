#include "netmodels/cluster_network.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "netmodels/topologies/registry.h"

namespace trigram {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

class ClusterNetwork final : public Network {
 public:
  explicit ClusterNetwork(const Cluster& cluster)
      : Network(cluster.ranks(), static_cast<int>(cluster.nodes), cluster.loopback_bandwidth()),
        transport_(cluster.transport),
        profile_(cluster.inter.profile),
        workers_(static_cast<int>(cluster.workers_per_node)),
        shared_nic_(cluster.nics == Nics::shared && workers_ > 1),
        bridged_(cluster.intra.kind == IntraKind::pcie) {
    for (int rank = 0; rank < ranks(); ++rank)
      graph_.add(Vertex{Vertex::Kind::worker, "worker", std::to_string(rank), rank / workers_, {}});
    if (workers_ > 1) add_fabrics(cluster);
    if (nodes() > 1) join(cluster);
    set_bisection(cluster);
  }

  void route(int source, int destination, std::vector<LinkId>& links) const override {
    if (source == destination) return;
    const int from = source / workers_, to = destination / workers_;
    if (from == to) {
      links.push_back(port(source));
      if (bridged_) links.push_back(bridges_ + from);
      links.push_back(port(destination) + 1);
      return;
    }
    between_nodes(source, destination, capped(), links);
  }

  void route_of_others(int source, int destination, std::vector<LinkId>& links) const override {
    between_nodes(source, destination, false, links);
  }

  void injection(int rank, bool inside, std::vector<LinkId>& links) const override {
    if (!inside) {
      leave(rank, rank / workers_, links);
      if (capped()) links.push_back(caps_ + 2 * (rank / workers_));
      return;
    }
    links.push_back(port(rank));
    if (bridged_) links.push_back(bridges_ + rank / workers_);
  }

  Bisection bisection() const override { return bisection_; }

  double connection_cap(int source, int destination,
                        Pattern pattern = Pattern::collective) const override {
    const NodeConnection connection{nodes(), source / workers_, destination / workers_,
                                    source % workers_, destination % workers_};
    if (!caps_connections() || connection.source_node == connection.destination_node)
      return kUnlimited;
    return transport_.connection_Bps(connection, latency(source, destination), pattern);
  }
  std::span<const LinkChange> profile() const override { return profile_; }
  bool caps_connections() const override { return transport_.limits_connections(); }

 private:
  bool capped() const { return transport_.node_cap_Bps != Transport::kNone; }
  // The link out; the one in comes after it.
  LinkId port(int rank) const { return ports_ + 2 * rank; }
  LinkId nic(int index) const { return nics_ + 2 * index; }
  void leave(int rank, int node, std::vector<LinkId>& links) const {
    if (shared_nic_) links.push_back(reach_ + 2 * rank);
    links.push_back(nic(shared_nic_ ? node : rank));
  }
  void between_nodes(int source, int destination, bool by_software,
                     std::vector<LinkId>& links) const {
    const int from = source / workers_, to = destination / workers_;
    leave(source, from, links);
    if (by_software) links.push_back(caps_ + 2 * from);
    topology_->route(from, to, links);
    if (by_software) links.push_back(caps_ + 2 * to + 1);
    links.push_back(nic(shared_nic_ ? to : destination) + 1);
    if (shared_nic_) links.push_back(reach_ + 2 * destination + 1);
  }
  LinkId next_link() const { return static_cast<LinkId>(graph_.links.size()); }

  Vertex part(Vertex::Kind kind, const char* tier, int index, int node) const {
    return {kind, tier, std::to_string(index), node, {}};
  }

  /// Inside the nodes: ports into a crossbar, or to both ends of a bridge.
  void add_fabrics(const Cluster& cluster) {
    std::vector<VertexId> out, in;
    for (int node = 0; node < nodes(); ++node) {
      out.push_back(
          graph_.add(part(Vertex::Kind::fabric, bridged_ ? "bridge in" : "crossbar", node, node)));
      in.push_back(bridged_ ? graph_.add(part(Vertex::Kind::fabric, "bridge out", node, node))
                            : out.back());
    }
    ports_ = next_link();
    for (int rank = 0; rank < ranks(); ++rank) {
      const auto node = static_cast<std::size_t>(rank / workers_);
      const double Bps = cluster.port_bandwidth(rank);
      graph_.add(Link{worker(rank), out[node], Bps, cluster.intra.latency_s});
      graph_.add(Link{in[node], worker(rank), Bps, 0});
    }
    bridges_ = next_link();
    for (std::size_t node = 0; bridged_ && node < out.size(); ++node)
      graph_.add(Link{out[node], in[node], cluster.intra.bridge_bandwidth(), 0});
  }

  void join(const Cluster& cluster) {
    const auto& entry = topology_of(cluster.topology);
    const auto first = static_cast<std::size_t>(next_link());
    topology_ = entry.make(cluster.topology.options, cluster, graph_);
    for (std::size_t id = first; id < graph_.links.size(); ++id) {
      graph_.links[id].bandwidth_Bps *= transport_.goodput;
      graph_.links[id].varies = !profile_.empty();
    }
    std::vector<VertexId> exits;  // of nodes: where their NICs end
    caps_ = next_link();
    for (int node = 0; node < nodes(); ++node) {
      exits.push_back(topology_->attach(node));
      if (!capped()) continue;
      const VertexId software = graph_.add(part(Vertex::Kind::nic, "transport", node, node));
      graph_.add_duplex(software, exits.back(),
                        transport_.node_cap_Bps * node_swiftness(transport_.variation, node), 0);
      exits.back() = software;
    }
    std::vector<VertexId> ends;  // of NICs: themselves where workers share them
    for (int i = 0; i < (shared_nic_ ? nodes() : ranks()); ++i)
      ends.push_back(shared_nic_ ? graph_.add(part(Vertex::Kind::nic, "NIC", i, i)) : worker(i));
    reach_ = next_link();
    for (int rank = 0; shared_nic_ && rank < ranks(); ++rank)
      graph_.add_duplex(worker(rank), ends[static_cast<std::size_t>(rank / workers_)], kUnlimited,
                        0);
    nics_ = next_link();
    for (int i = 0; i < static_cast<int>(ends.size()); ++i) {
      const VertexId end = ends[static_cast<std::size_t>(i)];
      const VertexId at = exits[static_cast<std::size_t>(shared_nic_ ? i : i / workers_)];
      Link out{end, at, transport_.goodput * cluster.nic_bandwidth(i), cluster.inter.latency_s};
      out.varies = !profile_.empty();
      shape(out, cluster.inter.shaping);
      Link in = out;
      std::swap(in.from, in.to);
      in.latency_s = 0;
      graph_.add(out);
      graph_.add(in);
    }
    for (Vertex& vertex : graph_.vertices)
      if (vertex.node >= 0) vertex.place = topology_->place(vertex.node);
  }

  /// What a token bucket counts is on the wire, headers included.
  void shape(Link& link, const Shaping& shaping) const {
    if (!shaping.exists()) return;
    const double rate_Bps = transport_.goodput * shaping.rate_Bps;
    if (shaping.depth_bytes == 0) {
      link.bandwidth_Bps = std::min(link.bandwidth_Bps, rate_Bps);
    } else {
      link.credit_Bps = rate_Bps;
      link.credit_depth_bytes = transport_.goodput * shaping.depth_bytes;
      link.credit_initial_bytes =
          transport_.goodput * std::min(shaping.initial_bytes, shaping.depth_bytes);
    }
  }

  /// What the software of half of the nodes moves, of the slower half.
  double slowest_half_Bps() const {
    std::vector<double> swiftness;
    for (int node = 0; node < nodes(); ++node)
      swiftness.push_back(node_swiftness(transport_.variation, node));
    std::sort(swiftness.begin(), swiftness.end());
    return transport_.node_cap_Bps *
           std::accumulate(swiftness.begin(), swiftness.begin() + nodes() / 2, 0.0);
  }

  void set_bisection(const Cluster& cluster) {
    if (nodes() > 1) {
      const Shaping& shaping = cluster.inter.shaping;
      const double nic_Bps = shaping.exists()  // in the long run
                                 ? std::min(cluster.inter.bandwidth_Bps, shaping.rate_Bps)
                                 : cluster.inter.bandwidth_Bps;
      bisection_ = topology_->bisection(nic_Bps * (shared_nic_ ? 1 : workers_));
      bisection_.bandwidth_Bps *= transport_.goodput;
      const double software = slowest_half_Bps();
      if (software < bisection_.bandwidth_Bps)
        bisection_ = {software, "the software of half of the nodes"};
    } else if (workers_ > 1) {
      const double ports = std::floor(workers_ / 2.0) * cluster.intra.bandwidth_Bps;
      bisection_ = {ports, "ports of half of the workers"};
      if (bridged_ && cluster.intra.bridge_bandwidth() < ports)
        bisection_ = {cluster.intra.bridge_bandwidth(), "the host bridge"};
    }
  }

  Transport transport_;
  std::vector<LinkChange> profile_;
  int workers_;  // per node
  bool shared_nic_, bridged_;
  LinkId reach_ = 0, nics_ = 0, caps_ = 0, ports_ = 0, bridges_ = 0;  // the first of each sort
  std::unique_ptr<Topology> topology_;
  Bisection bisection_;
};

}  // namespace

std::unique_ptr<const Network> make_network(const Cluster& cluster) {
  return std::make_unique<ClusterNetwork>(cluster);
}

}  // namespace trigram
