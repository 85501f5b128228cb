#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <limits>
#include <span>
#include <vector>

#include "netmodels/network/tcp.h"
#include "netmodels/transport.h"

namespace trigram {

/// The times of the route from one member of a pipeline to the next.
struct PipelineEdge {
  double overhead_s = 0;  // time that the sender's software takes to hand over a message
  double busy_s = 0;      // time that the connection spends on a message before its bytes leave
  double latency_s = 0;
  double per_byte_s = 0;  // seconds per byte on the narrowest link
  bool between_nodes = false;
  bool operator==(const PipelineEdge&) const = default;
};

/// The state of a connection, from which the next collective continues.
struct PipelineConnection {
  /// A message in the transport's buffer.
  struct Held {
    double nbytes, received_s;
    bool operator==(const Held&) const = default;
  };
  /// Time at which the last message has left.
  double free_s = -std::numeric_limits<double>::infinity();
  std::deque<Held> held = {};
  double held_bytes = 0;
  TcpWindow* window = nullptr;  // null if messages never wait for a window

  /// Shifts all times by `seconds`, because the collective ended later than computed.
  void delay(double seconds) {
    free_s += seconds;
    for (Held& message : held) message.received_s += seconds;
  }
  bool operator==(const PipelineConnection&) const = default;
};

/// A collective in which every member receives messages from the member before it and forwards
/// them, one after another. It is a ring (reduce-scatter, allgather, allreduce) or a chain
/// (broadcast, reduce) over an eager transport (runtime/sim/connection.h).
struct Pipeline {
  /// A phase, in which every member sends the same number of messages. Member p computes for
  /// work_s[p] seconds after every received message, and for after_s[p] at the end of the phase.
  /// The vectors are empty if no member computes.
  struct Phase {
    int messages = 0;
    std::vector<double> work_s, after_s;
  };
  std::array<Phase, 2> phases;
  /// Bytes on the wire: of each part of a ring, of each message of a chain. In a ring of P members,
  /// the member at position p sends part (p + first_part - j) mod P as message j.
  std::vector<double> nbytes;
  int first_part = 0;
  std::vector<double> starts_s;  // time at which each member enters the collective
  TrafficClass traffic = TrafficClass::collective;
};

/// The times at which each member has received and sent all its messages. They are the longest path
/// through members and messages,
///
///   begin(p, j) = max(ready(p, j), free(p)),   free(p) = begin + busy(p) + bytes / B(p),
///   arrive(p, j) = free(p) + latency(p),       ready(p, j + 1) = arrive(p - 1, j) + work(p),
///
/// where B(p) is the bandwidth of edge p. Member p can be ahead of member p + 1 only by the
/// messages that the transport can hold until p + 1 has received them. `edges[p]` leads from member
/// p to the next; a chain has one edge fewer than members. `connections`, indexed like the edges,
/// hold the state left by earlier traffic and are updated.
///
/// If all nodes of a ring behave alike, only one node is computed, and its times apply to all
/// nodes. In a ring with more than 256 members, parts that differ by one element do not prevent
/// this: they are rounded up to the longest part, with an error below a thousandth.
std::vector<double> ring_ends_s(const Pipeline& pipeline, std::span<const PipelineEdge> edges,
                                const Transport& transport,
                                std::span<PipelineConnection> connections);
std::vector<double> chain_ends_s(const Pipeline& pipeline, std::span<const PipelineEdge> edges,
                                 const Transport& transport,
                                 std::span<PipelineConnection> connections);

}  // namespace trigram
