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

/// An end of links.
struct Vertex {
  enum class Kind { worker, fabric, nic, network_switch };
  Kind kind = Kind::network_switch;
  std::string tier;  // what it is, such as "edge switch": those alike are drawn as one if many
  std::string name;  // within its tier, such as "0.1"
  int node = -1;     // the node that it is inside of; -1 for what joins nodes
};

/// One direction of a connection. A message of n bytes that has it for itself passes it in latency
/// + n / bandwidth.
struct Link {
  VertexId from = 0, to = 0;
  double bandwidth_Bps = 0;  // infinite: it is never what limits a message
  double latency_s = 0;
  /// Where this is less than the bandwidth, that is for bursts: what passes is paid with credit,
  /// which comes in at this rate, up to a depth; some is there at the start.
  double credit_Bps = std::numeric_limits<double>::infinity();
  double credit_depth_bytes = 0, credit_initial_bytes = 0;
  bool varies = false;  // with the profile of its network
  bool shaped() const { return credit_Bps < bandwidth_Bps; }
  bool unlimited() const { return bandwidth_Bps == std::numeric_limits<double>::infinity(); }
};

/// Vertices and directed links, in the order in which they are added.
struct Graph {
  std::vector<Vertex> vertices;
  std::vector<Link> links;

  VertexId add(Vertex vertex);
  LinkId add(const Link& link);
  /// Two links: the one from `a` to `b`, whose number is returned, and after it the one back.
  LinkId add_duplex(VertexId a, VertexId b, double bandwidth_Bps, double latency_s);
};

/// Bytes per second, in one direction, between two halves of the nodes.
struct Bisection {
  double bandwidth_Bps = 0;
  std::string cut;  // which halves these are
};

/// A network: a graph, and for any two workers the links between them. The one description from
/// which simulated platforms, predictions and drawings are made.
///
/// Routes are computed when they are asked for, so memory is linear in the number of links; they
/// are the same whenever one asks.
class Network {
 public:
  virtual ~Network() = default;

  /// Appends the links that a message passes, in order; none from a worker to itself.
  virtual void route(int source, int destination, std::vector<LinkId>& links) const = 0;
  /// Appends the links that what others send between the NICs of two workers passes: not those of
  /// our own software.
  virtual void route_of_others(int source, int destination, std::vector<LinkId>& links) const {
    route(source, destination, links);
  }
  /// Appends the links that whatever `rank` sends passes first: to workers of its own node
  /// (`inside`), or to those of other nodes.
  virtual void injection(int rank, bool inside, std::vector<LinkId>& links) const = 0;
  /// The least bandwidth between two halves of the nodes (of the workers, where there is one node),
  /// in the closed form of the topology.
  virtual Bisection bisection() const = 0;

  /// Whether messages inside a node and between nodes share links, by whatever latencies they
  /// leave.
  virtual bool mixes_levels() const { return false; }
  /// Bytes per second that all messages under way from one worker to another move together at most,
  /// whatever their links could; infinite where there is no such limit. What is not of a collective
  /// may have a lower limit, each message for itself.
  virtual double connection_cap(int, int, TrafficClass = TrafficClass::collective,
                                Rate = Rate::sustained) const {
    return std::numeric_limits<double>::infinity();
  }
  /// Bytes per second that one message of so many bytes moves at most by its connection.
  virtual double message_cap(int source, int destination, TrafficClass traffic, double /*nbytes*/,
                             Rate rate) const {
    return connection_cap(source, destination, traffic, rate);
  }
  /// How links that vary change with time, in order.
  virtual std::span<const LinkChange> profile() const { return {}; }
  /// By how much links that vary are at most wider than they are described; 1 where none is.
  double widest_factor() const;
  /// Whether any connection has a limit.
  virtual bool caps_connections(Rate) const { return false; }

  int ranks() const { return ranks_; }
  int nodes() const { return nodes_; }
  const std::vector<Vertex>& vertices() const { return graph_.vertices; }
  const std::vector<Link>& links() const { return graph_.links; }
  const Link& link(LinkId id) const { return graph_.links[static_cast<std::size_t>(id)]; }
  const Vertex& vertex(VertexId id) const { return graph_.vertices[static_cast<std::size_t>(id)]; }
  /// The vertex that a worker is.
  VertexId worker(int rank) const { return rank; }
  /// "edge switch 0.1 > worker 3".
  std::string name(LinkId id) const;

  /// Bytes per second that a rank gives to messages to itself.
  double loopback_bandwidth() const { return loopback_Bps_; }
  /// Seconds from first byte sent to first byte received; 0 from a worker to itself.
  double latency(int source, int destination) const;
  double latency(std::span<const LinkId> route) const;
  /// While links that vary have so many times the latency that is described.
  double latency(std::span<const LinkId> route, double factor) const;
  /// Of links that vary, at a date, as the profile says.
  double latency_factor(double date_s) const;
  /// Bytes per second of the narrowest link between two workers when nothing else uses it, or of
  /// their connection if that is less.
  double bandwidth(int source, int destination, Rate rate = Rate::sustained) const;
  /// Seconds that one message takes when nothing else uses its links.
  double message_time(int source, int destination, double nbytes) const;

 protected:
  Network(int ranks, int nodes, double loopback_Bps)
      : ranks_(ranks), nodes_(nodes), loopback_Bps_(loopback_Bps) {}
  Graph graph_;  // workers are the first vertices, by rank

 private:
  int ranks_, nodes_;
  double loopback_Bps_;
};

}  // namespace trigram
