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

/// The route from one member of a pipeline to the next, as times.
struct PipelineEdge {
  double overhead_s = 0;  // seconds of the sender's software, before it hands a message over
  double busy_s = 0;      // seconds of the connection, before the bytes of a message leave
  double latency_s = 0;
  double per_byte_s = 0;  // seconds per byte on the narrowest link
  bool between_nodes = false;
  bool operator==(const PipelineEdge&) const = default;
};

/// The state of a connection, which persists after a collective.
struct PipelineConnection {
  /// A message that the transport holds.
  struct Held {
    double nbytes, received_s;
    bool operator==(const Held&) const = default;
  };
  /// Time at which the last message has left.
  double free_s = -std::numeric_limits<double>::infinity();
  std::deque<Held> held = {};
  double held_bytes = 0;
  TcpWindow* window = nullptr;  // null if messages never wait for it

  /// Shifts all times by `seconds`, when the collective turns out to be later than computed.
  void delay(double seconds) {
    free_s += seconds;
    for (Held& message : held) message.received_s += seconds;
  }
  bool operator==(const PipelineConnection&) const = default;
};

/// A collective in which every member receives messages from the member before it and forwards
/// them, one after another. It is a ring (reduce-scatter, allgather, allreduce) or a chain
/// (broadcast, reduce). Messages are sent as by an eager transport (runtime/sim/connection.h).
struct Pipeline {
  /// A phase, in which every member sends the same number of messages. Member p computes for
  /// work_s[p] seconds after every received message, and for after_s[p] at the end of the phase.
  /// The vectors are empty if no member computes.
  struct Phase {
    int messages = 0;
    std::vector<double> work_s, after_s;
  };
  std::array<Phase, 2> phases;
  /// Bytes on the wire. In a ring they belong to parts: the member at position p of P sends part (p
  /// + first_part - j) mod P as message j. In a chain, element j belongs to message j.
  std::vector<double> nbytes;
  int first_part = 0;
  std::vector<double> starts_s;  // time at which each member enters the collective
  TrafficClass traffic = TrafficClass::collective;
};

/// The times at which each member has received and sent all its messages. They are the longest path
/// through members and messages,
///
///   begin(p, j) = max(ready(p, j), free(p)),   free(p) = begin + busy(p) + bytes / B(p),
///   arrive(p, j) = free(p) + latency(p),       ready(p, j + 1) = arrive(p - 1, j) + work(p).
///
/// where B(p) is the bandwidth of edge p. Member p can be ahead of p + 1 only by the messages that
/// the transport can hold until p + 1 has received them. `edges[p]` leads from member p to the
/// next; a chain has one edge less than members. `connections`, indexed like the edges, hold the
/// state left by earlier traffic and are updated. If all nodes of a ring are alike and start with
/// parts of the same lengths, one node is computed for all. If such a ring has more than 256
/// members, parts that differ by one element are rounded up to the longest, which causes an error
/// below a thousandth.
std::vector<double> ring_ends_s(const Pipeline& pipeline, std::span<const PipelineEdge> edges,
                                const Transport& transport,
                                std::span<PipelineConnection> connections);
std::vector<double> chain_ends_s(const Pipeline& pipeline, std::span<const PipelineEdge> edges,
                                 const Transport& transport,
                                 std::span<PipelineConnection> connections);

}  // namespace trigram
