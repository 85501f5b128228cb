#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "netmodels/tcp.h"
#include "netmodels/transport.h"

namespace trigram {

/// The way from one member of a pipeline to the next.
struct PipelineEdge {
  double overhead_s = 0;  // of the sender's software, before each message
  double latency_s = 0;
  double per_byte_s = 0;  // of the narrowest link
  bool between_nodes = false;
  bool operator==(const PipelineEdge&) const = default;
};

/// A collective in which every member passes on what it has received from the one before, message
/// after message: a ring (reduce-scatter, allgather, allreduce) or a chain (broadcast, reduce).
/// Messages are sent as by an eager transport (runtime/sim/connection.h).
struct Pipeline {
  /// Messages of a phase, of each member; then `work_s` of each after a message that it has
  /// received (empty where nobody works), and `after_s` at the end of the phase.
  struct Phase {
    int messages = 0;
    std::vector<double> work_s;
    double after_s = 0;
  };
  std::array<Phase, 2> phases;
  /// On the wire. Of a ring: of the parts, of which the member at place p of P sends part
  /// (p + first_part - j) mod P as message j. Of a chain: of message j.
  std::vector<double> nbytes;
  int first_part = 0;
  std::vector<double> starts_s;  // when each member comes
  Pattern traffic = Pattern::collective;
};

/// When each member has received and sent all its messages: the longest path through members and
/// messages,
///
///   begin(p, j) = max(ready(p, j), free(p)),   free(p) = begin + bytes / B(p),
///   arrive(p, j) = free(p) + latency(p),       ready(p, j + 1) = arrive(p - 1, j) + work(p),
///
/// where what the transport holds of a connection until p + 1 has received it limits how far p is
/// ahead. `edges[p]`
/// leads from member p to the next; a chain has one less than members. `windows`, of the same
/// places, are those of TCP that open by slow start; empty where all are open, null for edges that
/// have none. Of more than 256 members whose nodes are alike, parts that differ by an element count
/// as long as the longest, which costs less than a thousandth.
std::vector<double> ring_ends_s(const Pipeline& pipeline, std::span<const PipelineEdge> edges,
                                const Transport& transport,
                                std::span<TcpWindow* const> windows = {});
std::vector<double> chain_ends_s(const Pipeline& pipeline, std::span<const PipelineEdge> edges,
                                 const Transport& transport,
                                 std::span<TcpWindow* const> windows = {});

}  // namespace trigram
