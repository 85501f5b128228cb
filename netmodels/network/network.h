#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "core/communicator.h"
#include "netmodels/network/link_dynamics.h"
#include "netmodels/network/tcp.h"

namespace trigram {

using VertexId = std::int32_t;
using LinkId = std::int32_t;

/// An endpoint of links: a worker, a fabric, a NIC or a switch.
struct Vertex {
  enum class Kind { worker, fabric, nic, network_switch };
  Kind kind = Kind::network_switch;
  std::string tier;  // such as "edge switch"; drawings show the vertices of a tier as one
  std::string name;  // within its tier, such as "0.1"
  int node = -1;     // the node that contains it; -1 for a vertex between nodes
};

/// One direction of a connection. A message of n bytes that has the link to itself takes latency +
/// n / bandwidth.
struct Link {
  VertexId from = 0, to = 0;
  double bandwidth_Bps = 0;  // infinite: never the bottleneck
  double latency_s = 0;
  /// Rate at which the link's token bucket refills. If it is below the bandwidth, the link reaches
  /// its bandwidth only in bursts: bytes consume credit, which accumulates at this rate, from an
  /// initial value up to a depth.
  double refill_Bps = std::numeric_limits<double>::infinity();
  double credit_depth_bytes = 0, credit_initial_bytes = 0;
  bool varies = false;  // changes as the network's profile says
  bool shaped() const { return refill_Bps < bandwidth_Bps; }
  bool unlimited() const { return bandwidth_Bps == std::numeric_limits<double>::infinity(); }
};

/// Vertices and directed links, in the order of insertion.
struct Graph {
  std::vector<Vertex> vertices;
  std::vector<Link> links;

  VertexId add(Vertex vertex);
  LinkId add(const Link& link);
  /// Adds two links: one from `a` to `b`, whose id is returned, and after it the reverse link.
  LinkId add_duplex(VertexId a, VertexId b, double bandwidth_Bps, double latency_s);
};

/// Bytes per second, in one direction, between two halves of the nodes.
struct Bisection {
  double bandwidth_Bps = 0;
  std::string cut;  // describes the halves
};

/// A network: a graph, and a route for any two workers. Simulated platforms, predictions and
/// drawings all use it.
///
/// Routes are computed on request, so that memory is linear in the number of links. A route is
/// always the same.
class Network {
 public:
  virtual ~Network() = default;

  /// Appends the links of a message's route, in order. The route from a worker to itself has no
  /// links.
  virtual void route(int source, int destination, std::vector<LinkId>& links) const = 0;
  /// Appends the links that background traffic passes between the NICs of two workers. It skips the
  /// links that model the software of the simulated workers.
  virtual void background_route(int source, int destination, std::vector<LinkId>& links) const {
    route(source, destination, links);
  }
  /// Appends the links with which all routes from `rank` begin: the routes to workers of its node
  /// (`inside`), or the routes to other nodes.
  virtual void injection(int rank, bool inside, std::vector<LinkId>& links) const = 0;
  /// The least bandwidth between two halves of the nodes (of the workers if there is only one
  /// node), from the topology's closed form.
  virtual Bisection bisection() const = 0;

  /// True if messages inside nodes share links with messages between nodes. Their latencies differ.
  virtual bool mixes_levels() const { return false; }
  /// The limit of a connection in bytes per second, apart from the limits of its links: all
  /// messages in flight from one worker to another share it. It is infinite if there is no such
  /// limit. For traffic that is not a collective, the limit may be lower, and it applies to each
  /// message alone.
  virtual double connection_cap(int, int, TrafficClass = TrafficClass::collective,
                                Rate = Rate::sustained) const {
    return std::numeric_limits<double>::infinity();
  }
  /// The limit of one message of `nbytes` bytes on its connection, in bytes per second.
  virtual double message_cap(int source, int destination, TrafficClass traffic, double /*nbytes*/,
                             Rate rate) const {
    return connection_cap(source, destination, traffic, rate);
  }
  /// The changes of links that vary, in order of time.
  virtual std::span<const LinkChange> profile() const { return {}; }
  /// The largest bandwidth factor of links that vary; 1 if none exceeds its described bandwidth.
  double largest_bandwidth_factor() const;
  /// True if any connection has a limit.
  virtual bool caps_connections(Rate) const { return false; }

  int ranks() const { return ranks_; }
  int nodes() const { return nodes_; }
  const std::vector<Vertex>& vertices() const { return graph_.vertices; }
  const std::vector<Link>& links() const { return graph_.links; }
  const Link& link(LinkId id) const { return graph_.links[static_cast<std::size_t>(id)]; }
  const Vertex& vertex(VertexId id) const { return graph_.vertices[static_cast<std::size_t>(id)]; }
  /// The vertex of a worker.
  virtual VertexId worker(int rank) const { return rank; }
  /// The name of a link, such as "edge switch 0.1 > worker 3".
  std::string name(LinkId id) const;

  /// Bytes per second for a rank's messages to itself.
  double loopback_bandwidth() const { return loopback_Bps_; }
  /// Seconds from the first byte sent to the first byte received; 0 from a worker to itself.
  double latency(int source, int destination) const;
  /// The latency of a route. Links that vary have `factor` times their described latency.
  double latency(std::span<const LinkId> route, double factor = 1) const;
  /// The latency factor, from the profile, of links that vary at the time `date_s`.
  double latency_factor(double date_s) const;
  /// Bytes per second that one message gets between two workers if nothing else uses its links: the
  /// bandwidth of the narrowest link, or the limit of the connection if that is lower.
  double bandwidth(int source, int destination, Rate rate = Rate::sustained) const;
  /// Seconds that a message of `nbytes` bytes takes if nothing else uses its links.
  double message_time(int source, int destination, double nbytes) const;

 protected:
  Network(int ranks, int nodes, double loopback_Bps)
      : ranks_(ranks), nodes_(nodes), loopback_Bps_(loopback_Bps) {}
  Graph graph_;  // the first vertices are the workers, by rank, of the whole cluster

 private:
  int ranks_, nodes_;
  double loopback_Bps_;
};

}  // namespace trigram
