#include "netmodels/cluster_network.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "netmodels/part_of_cluster.h"
#include "netmodels/topologies/topology.h"

namespace trigram {
namespace {

constexpr double kUnlimited = Transport::kUnlimited;

class ClusterNetwork final : public Network {
 public:
  explicit ClusterNetwork(const Cluster& cluster)
      : Network(cluster.ranks(), static_cast<int>(cluster.nodes), cluster.loopback_bandwidth()),
        transport_(cluster.transport),
        workers_(static_cast<int>(cluster.workers_per_node)),
        shared_nic_(cluster.nics == Nics::shared && workers_ > 1),
        bridged_(cluster.intra.kind == IntraKind::pcie),
        staged_(cluster.intra.staged() && cluster.nodes > 1),
        inter_(cluster.inter),
        intra_(cluster.intra) {
    for (int rank = 0; rank < ranks(); ++rank)
      graph_.add(Vertex{Vertex::Kind::worker, "worker", std::to_string(rank), rank / workers_});
    if (workers_ > 1 || staged_) add_fabrics(cluster);
    if (nodes() > 1) connect_nodes(cluster);
  }

  void route(int source, int destination, std::vector<LinkId>& links) const override {
    if (source == destination) return;
    if (inside(source, destination)) {
      injection(source, true, links);
      links.push_back(port(destination) + 1);
      return;
    }
    append_to_nic(source, links);
    append_between_nics(source, destination, capped(), links);
    append_from_nic(destination, links);
  }

  void background_route(int source, int destination, std::vector<LinkId>& links) const override {
    if (shared_nic_ && !staged_) links.push_back(nic_access_ + 2 * source);
    append_between_nics(source, destination, false, links);
    if (shared_nic_ && !staged_) links.push_back(nic_access_ + 2 * destination + 1);
  }

  void injection(int rank, bool inside, std::vector<LinkId>& links) const override {
    if (!inside) {
      append_to_nic(rank, links);
      links.push_back(nic(rank));
      if (capped()) links.push_back(software_links_ + 2 * (rank / workers_));
      return;
    }
    links.push_back(port(rank));
    if (bridged_) links.push_back(bridge(rank));
  }

  Bisection bisection() const override {
    if (nodes() == 1) return bisection_of_node();
    const double nic_Bps = inter_.shaping.enabled()  // long-run bandwidth
                               ? std::min(inter_.bandwidth_Bps, inter_.shaping.rate_Bps)
                               : inter_.bandwidth_Bps;
    Bisection least = topology_->bisection(nic_Bps * (shared_nic_ ? 1 : workers_));
    least.bandwidth_Bps *= transport_.goodput;
    const double software = slowest_half_Bps();
    if (software < least.bandwidth_Bps) least = {software, "the software of half of the nodes"};
    const double hosts = host_Bps() * (nodes() / 2);  // NOLINT(bugprone-integer-division)
    if (staged_ && hosts < least.bandwidth_Bps)
      least = {hosts, "ports and host bridges of half of the nodes"};
    return least;
  }
  bool mixes_levels() const override { return staged_; }

  double connection_cap(int source, int destination,
                        TrafficClass traffic = TrafficClass::collective,
                        Rate rate = Rate::sustained) const override {
    if (!caps_connections(rate) || inside(source, destination)) return kUnlimited;
    return transport_.connection_Bps(connection(source, destination), latency(source, destination),
                                     traffic, rate);
  }
  double message_cap(int source, int destination, TrafficClass traffic, double nbytes,
                     Rate rate) const override {
    if (!caps_connections(rate) || inside(source, destination)) return kUnlimited;
    return transport_.message_Bps(connection(source, destination), latency(source, destination),
                                  traffic, nbytes, rate);
  }
  std::span<const LinkChange> profile() const override { return inter_.profile; }
  bool caps_connections(Rate rate) const override { return transport_.limits_connections(rate); }

 private:
  bool inside(int source, int destination) const {
    return source / workers_ == destination / workers_;
  }
  NodeConnection connection(int source, int destination) const {
    return {nodes(), source / workers_, destination / workers_, source % workers_,
            destination % workers_};
  }
  /// True if a node's software limits its messages: each node then has a link that represents it.
  bool capped() const { return transport_.node_cap_Bps != Transport::kUnlimited; }
  /// The outgoing link of a worker's port; the incoming link has the next id. The same holds for
  /// `nic`.
  LinkId port(int rank) const { return ports_ + 2 * rank; }
  /// The index of the NIC that a rank uses.
  int nic_of(int rank) const { return shared_nic_ ? rank / workers_ : rank; }
  LinkId nic(int rank) const { return nics_ + 2 * nic_of(rank); }
  LinkId bridge(int rank) const { return bridges_ + rank / workers_; }
  /// Appends the links from a worker to its NIC.
  void append_to_nic(int rank, std::vector<LinkId>& links) const {
    if (staged_)
      links.insert(links.end(), {port(rank), bridge(rank), nic_access_ + 2 * nic_of(rank)});
    else if (shared_nic_) links.push_back(nic_access_ + 2 * rank);
  }
  void append_from_nic(int rank, std::vector<LinkId>& links) const {
    if (staged_)
      links.insert(links.end(), {nic_access_ + 2 * nic_of(rank) + 1, bridge(rank), port(rank) + 1});
    else if (shared_nic_) links.push_back(nic_access_ + 2 * rank + 1);
  }
  void append_between_nics(int source, int destination, bool through_software,
                           std::vector<LinkId>& links) const {
    const int from = source / workers_, to = destination / workers_;
    links.push_back(nic(source));
    if (through_software) links.push_back(software_links_ + 2 * from);
    topology_->route(from, to, links);
    if (through_software) links.push_back(software_links_ + 2 * to + 1);
    links.push_back(nic(destination) + 1);
  }
  LinkId next_link() const { return static_cast<LinkId>(graph_.links.size()); }

  Vertex make_vertex(Vertex::Kind kind, const char* tier, int index, int node) const {
    return {kind, tier, std::to_string(index), node};
  }

  /// Adds the fabrics inside the nodes: ports into a crossbar, or to both ends of a bridge.
  void add_fabrics(const Cluster& cluster) {
    for (int node = 0; node < nodes(); ++node) {
      fabric_in_.push_back(graph_.add(
          make_vertex(Vertex::Kind::fabric, bridged_ ? "bridge in" : "crossbar", node, node)));
      fabric_out_.push_back(
          bridged_ ? graph_.add(make_vertex(Vertex::Kind::fabric, "bridge out", node, node))
                   : fabric_in_.back());
    }
    ports_ = next_link();
    for (int rank = 0; rank < ranks(); ++rank) {
      const auto node = static_cast<std::size_t>(rank / workers_);
      const double Bps = cluster.port_bandwidth(rank);
      graph_.add(Link{worker(rank), fabric_in_[node], Bps, cluster.intra.latency_s});
      graph_.add(Link{fabric_out_[node], worker(rank), Bps, 0});
    }
    bridges_ = next_link();
    for (std::size_t node = 0; bridged_ && node < fabric_in_.size(); ++node)
      graph_.add(Link{fabric_in_[node], fabric_out_[node], cluster.intra.bridge_bandwidth(), 0});
  }

  int node_of_nic(int index) const { return shared_nic_ ? index : index / workers_; }

  /// Adds a vertex for the host side of each NIC, and returns the vertices by NIC. If each worker
  /// has a NIC and messages are not staged, the worker itself is the vertex. Workers (host bridges
  /// if messages are staged) are connected to these vertices by unlimited links.
  std::vector<VertexId> add_nics() {
    std::vector<VertexId> ends;
    const int count = shared_nic_ ? nodes() : ranks();
    for (int i = 0; i < count; ++i)
      ends.push_back(shared_nic_ || staged_
                         ? graph_.add(make_vertex(Vertex::Kind::nic, "NIC", i, node_of_nic(i)))
                         : worker(i));
    nic_access_ = next_link();
    for (int i = 0; staged_ && i < count; ++i) {
      const auto node = static_cast<std::size_t>(node_of_nic(i));
      const VertexId end = ends[static_cast<std::size_t>(i)];
      graph_.add(Link{fabric_out_[node], end, kUnlimited, 0});
      graph_.add(Link{end, fabric_in_[node], kUnlimited, 0});
    }
    for (int rank = 0; shared_nic_ && !staged_ && rank < ranks(); ++rank)
      graph_.add_duplex(worker(rank), ends[static_cast<std::size_t>(rank / workers_)], kUnlimited,
                        0);
    return ends;
  }

  void connect_nodes(const Cluster& cluster) {
    const auto& entry = topology_of(cluster.topology);
    const auto first = static_cast<std::size_t>(next_link());
    topology_ = entry.make(cluster.topology.options, cluster.attached_nodes(), graph_);
    for (std::size_t id = first; id < graph_.links.size(); ++id) {
      graph_.links[id].bandwidth_Bps *= transport_.goodput;
      graph_.links[id].varies = !inter_.profile.empty();
    }
    std::vector<VertexId> exits;  // per node: the vertex that its NICs connect to
    software_links_ = next_link();
    for (int node = 0; node < nodes(); ++node) {
      exits.push_back(topology_->switch_of(node));
      if (!capped()) continue;
      const VertexId software = graph_.add(make_vertex(Vertex::Kind::nic, "transport", node, node));
      graph_.add_duplex(
          software, exits.back(),
          transport_.node_cap_Bps * node_throughput_factor(transport_.variation, node), 0);
      exits.back() = software;
    }
    const std::vector<VertexId> ends = add_nics();
    nics_ = next_link();
    for (int i = 0; i < static_cast<int>(ends.size()); ++i) {
      const VertexId end = ends[static_cast<std::size_t>(i)];
      const VertexId at = exits[static_cast<std::size_t>(node_of_nic(i))];
      Link out{end, at, transport_.goodput * cluster.nic_bandwidth(i), cluster.inter.latency_s};
      out.varies = !inter_.profile.empty();
      shape(out, cluster.inter.shaping);
      Link in = out;
      std::swap(in.from, in.to);
      in.latency_s = 0;
      graph_.add(out);
      graph_.add(in);
    }
  }

  /// A token bucket counts bytes on the wire, including headers, so its values are multiplied by
  /// goodput.
  void shape(Link& link, const Shaping& shaping) const {
    if (!shaping.enabled()) return;
    const double rate_Bps = transport_.goodput * shaping.rate_Bps;
    if (shaping.depth_bytes == 0) {
      link.bandwidth_Bps = std::min(link.bandwidth_Bps, rate_Bps);
    } else {
      link.refill_Bps = rate_Bps;
      link.credit_depth_bytes = transport_.goodput * shaping.depth_bytes;
      link.credit_initial_bytes =
          transport_.goodput * std::min(shaping.initial_bytes, shaping.depth_bytes);
    }
  }

  /// Bytes per second that the software of the slower half of the nodes moves in total.
  double slowest_half_Bps() const {
    std::vector<double> swiftness;
    for (int node = 0; node < nodes(); ++node)
      swiftness.push_back(node_throughput_factor(transport_.variation, node));
    std::sort(swiftness.begin(), swiftness.end());
    return transport_.node_cap_Bps *
           std::accumulate(swiftness.begin(), swiftness.begin() + nodes() / 2, 0.0);
  }

  /// Bytes per second from a node to its NICs through the host.
  double host_Bps() const {
    return std::min(workers_ * intra_.bandwidth_Bps, intra_.bridge_bandwidth());
  }

  Bisection bisection_of_node() const {
    if (workers_ == 1) return {};
    const double ports = std::floor(workers_ / 2.0) * intra_.bandwidth_Bps;
    if (bridged_ && intra_.bridge_bandwidth() < ports)
      return {intra_.bridge_bandwidth(), "the host bridge"};
    return {ports, "ports of half of the workers"};
  }

  Transport transport_;
  int workers_;  // per node
  bool shared_nic_, bridged_, staged_;
  LinkSpec inter_;
  IntraSpec intra_;
  // By node: the vertices at which messages enter and leave the fabric; the same if there is no
  // bridge.
  std::vector<VertexId> fabric_in_, fabric_out_;
  LinkId nic_access_ = 0, nics_ = 0, software_links_ = 0, ports_ = 0,
         bridges_ = 0;  // the first link of each kind
  std::unique_ptr<Topology> topology_;
};

}  // namespace

std::unique_ptr<const Network> make_network(const Cluster& cluster) {
  if (cluster.whole) return network_of_part(cluster);
  return std::make_unique<ClusterNetwork>(cluster);
}

}  // namespace trigram
