#include "netmodels/transport.h"

#include <algorithm>
#include <cmath>

namespace trigram {
namespace {

/// A limit that is not written where there is none.
Kind<double> limit(Dimension dimension) {
  Kind<double> kind = quantity(dimension, true);
  kind.dump = [dump = kind.dump](const double& value) {
    return std::isfinite(value) ? dump(value) : Json();
  };
  return kind;
}

}  // namespace

double Transport::connection_Bps(double latency_s) const {
  if (window_bytes == kNone || latency_s == 0) return connection_cap_Bps;
  return std::min(connection_cap_Bps, window_bytes / (2 * latency_s));
}

FieldTable<Transport> transport_fields() {
  return FieldTable<Transport>{}
      .field("goodput", &Transport::goodput, number(0, 1, Open::below),
             "share of a link's bandwidth that is left after headers")
      .field("node_cap", &Transport::node_cap_Bps, limit(Dimension::bandwidth),
             "what the software of a node moves at most, in each direction")
      .field("connection_cap", &Transport::connection_cap_Bps, limit(Dimension::bandwidth),
             "what all messages from one worker to another move at most")
      .field("window", &Transport::window_bytes, limit(Dimension::bytes),
             "bytes of a connection under way: it moves at most this over the round-trip time")
      .field("message_overhead", &Transport::message_overhead_s, quantity(Dimension::duration),
             "time that the sender spends on each message")
      .field("stage_overhead", &Transport::stage_overhead_s, quantity(Dimension::duration),
             "time that the sender spends on each batch of messages, a stage of a collective");
}

}  // namespace trigram
