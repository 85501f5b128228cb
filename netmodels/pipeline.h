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

/// The way from one member of a pipeline to the next.
struct PipelineEdge {
  double overhead_s = 0;  // of the sender's software, before it hands a message over
  double busy_s = 0;      // of the connection, before the bytes of a message leave
  double latency_s = 0;
  double per_byte_s = 0;  // of the narrowest link
  bool between_nodes = false;
  bool operator==(const PipelineEdge&) const = default;
};

/// The state of a connection that outlasts a collective.
struct PipelineConnection {
  /// A message that the transport has taken.
  struct Held {
    double nbytes, received_s;
    bool operator==(const Held&) const = default;
  };
  double free_s = -std::numeric_limits<double>::infinity();  // when the last message has left
  std::deque<Held> held = {};
  double held_bytes = 0;
  TcpWindow* window = nullptr;  // where messages may have to wait for it

  /// Everything has become later than was thought.
  void delay(double seconds) {
    free_s += seconds;
    for (Held& message : held) message.received_s += seconds;
  }
  bool operator==(const PipelineConnection&) const = default;
};

/// A collective in which every member passes on what it has received from the one before, message
/// after message: a ring (reduce-scatter, allgather, allreduce) or a chain (broadcast, reduce).
/// Messages are sent as by an eager transport (runtime/sim/connection.h).
struct Pipeline {
  /// Messages of a phase, of each member; then what each computes after a message that it has
  /// received, and at the end of the phase. Empty where nobody does.
  struct Phase {
    int messages = 0;
    std::vector<double> work_s, after_s;
  };
  std::array<Phase, 2> phases;
  /// On the wire. Of a ring: of the parts, of which the member at place p of P sends part
  /// (p + first_part - j) mod P as message j. Of a chain: of message j.
  std::vector<double> nbytes;
  int first_part = 0;
  std::vector<double> starts_s;  // when each member comes
  TrafficClass traffic = TrafficClass::collective;
};

/// When each member has received and sent all its messages: the longest path through members and
/// messages,
///
///   begin(p, j) = max(ready(p, j), free(p)),   free(p) = begin + busy(p) + bytes / B(p),
///   arrive(p, j) = free(p) + latency(p),       ready(p, j + 1) = arrive(p - 1, j) + work(p),
///
/// where what the transport holds of a connection until p + 1 has received it limits how far p is
/// ahead. `edges[p]` leads from member p to the next; a chain has one less than members.
/// `connections`, of the same places, say when they are free of what went before, and are told when
/// they are free again. A ring is computed for one node where all nodes are alike and start with
/// parts of the same lengths. Of more than 256 members whose nodes are alike, parts that differ by
/// an element count as long as the longest, which costs less than a thousandth.
std::vector<double> ring_ends_s(const Pipeline& pipeline, std::span<const PipelineEdge> edges,
                                const Transport& transport,
                                std::span<PipelineConnection> connections);
std::vector<double> chain_ends_s(const Pipeline& pipeline, std::span<const PipelineEdge> edges,
                                 const Transport& transport,
                                 std::span<PipelineConnection> connections);

}  // namespace trigram
