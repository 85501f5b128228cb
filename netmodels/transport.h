#pragma once

#include <limits>

#include "core/config/fields.h"

namespace trigram {

/// What protocols and their software take of the network between nodes, and the limits that they
/// set to it. By default nothing. Messages inside a node are free of it.
struct Transport {
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  /// Share of every link's bandwidth that is left for payload, after headers.
  double goodput = 1;
  /// Bytes per second, in each direction, that a node's software moves, whatever its NICs could.
  double node_cap_Bps = kNone;
  /// Bytes per second that one connection moves: all messages under way from one worker to another.
  double connection_cap_Bps = kNone;
  /// Bytes that a connection may have under way before they are acknowledged: it moves no more than
  /// this over the round-trip time of its route, two latencies (RFC 7323, section 1.1).
  double window_bytes = kNone;
  /// Seconds that the sender's stream is busy with each message, and with each batch of messages
  /// that are sent together (a stage of a collective), before they leave.
  double message_overhead_s = 0, stage_overhead_s = 0;

  /// The limit of a connection whose route has this latency.
  double connection_Bps(double latency_s) const;
};

FieldTable<Transport> transport_fields();

}  // namespace trigram
