#pragma once

#include <vector>

#include "netmodels/cluster.h"
#include "netmodels/network/network.h"

namespace trigram {

/// A time in which a route carries nothing.
struct Outage {
  double begin_s = 0, end_s = 0;
};

/// True if the description has partitions.
bool has_partitions(const Cluster& cluster);

/// The outages of the route from `source` to `destination`, in order of time and without overlaps:
/// the partitions that separate the nodes of the two ranks, or that cut a link of the route.
std::vector<Outage> outages(const Cluster& cluster, const Network& network, int source,
                            int destination);

/// Throws ConfigError if a partition names a link that the network does not have, or if the cluster
/// has background traffic, which partitions would not stop. `pointer` is that of the list of
/// events.
void check_partitions(const Cluster& cluster, const std::string& pointer);

/// One direction of a connection over a route with outages. A message that an outage meets goes on
/// where it stopped, when the connection sends again. Without TCP windows, that is the end of the
/// outage. A TCP connection does not notice the end by itself: it retransmits when its timeout has
/// passed since the last acknowledgement, and doubles the timeout after each attempt (RFC 6298,
/// rules 5.4 to 5.6). So it sends again at the first attempt after the end.
class InterruptedConnection {
 public:
  /// The longest timeout: TCP_RTO_MAX of Linux (include/net/tcp.h). RFC 6298, rule 2.5, allows
  /// limits of 60 s or more.
  static constexpr double kLongestTimeout_s = 120;

  /// `timeout_s` is the first timeout; 0 for a connection without TCP.
  InterruptedConnection(std::vector<Outage> outages, double timeout_s)
      : outages_(std::move(outages)), timeout_s_(timeout_s) {}

  const std::vector<Outage>& outages() const { return outages_; }
  /// The time at which the connection sends again, if it has had unacknowledged bytes since
  /// `since_s`, which is in an outage. The connection sends nothing until then.
  double stop(double since_s);
  /// The end of a wait for `seconds` that begins at `from_s` and in which the connection has
  /// unacknowledged bytes. The wait stands still while the connection is interrupted. `from_s` must
  /// not decrease from call to call.
  double end_s(double from_s, double seconds);

 private:
  double sends_again_s(double since_s) const;

  const std::vector<Outage> outages_;
  const double timeout_s_;
  std::vector<Outage> stops_;  // times in which the connection sends nothing, in order
};

/// An InterruptedConnection over the route from `source` to `destination`.
InterruptedConnection interrupted_connection(const Cluster& cluster, const Network& network,
                                             int source, int destination);

}  // namespace trigram
