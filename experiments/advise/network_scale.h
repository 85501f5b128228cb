#pragma once

#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// True if a cluster description in canonical form has a single node, so that all messages use the
/// fabric inside the node.
bool has_one_node(const Json& cluster);

/// Scales the bandwidth or the latency of the network between nodes as a whole: of NICs, of token
/// buckets at NICs, and of topology links with their own values. Software overheads (`transport`)
/// and the fabric inside nodes do not change. For a cluster of one node, scales the fabric inside
/// it: the ports, and the host bridge if it has its own bandwidth.
class NetworkScale {
 public:
  /// `cluster` is a description in canonical form.
  NetworkScale(const Json& cluster, Dimension dimension);
  /// Scales another quantity: the time `seconds`, which is set at `pointer`.
  NetworkScale(std::string pointer, double seconds);

  /// The scaled values as settings, {"/cluster/...": value}: `factor` times the described values,
  /// or `factor` microseconds if all described latencies are zero.
  Json settings(double factor) const;
  /// True if all described values are zero, so that only factor 0 means the network as described.
  bool all_zero() const { return all_zero_; }

  /// The scaled value as text: "7.9 Gbps" for NICs or ports, followed by the range of the values of
  /// topology links, if some have their own values.
  std::string text(double factor) const;
  /// The bandwidth (bytes/s) or latency (s) of a NIC or a port.
  double value(double factor) const;

 private:
  struct Part {
    std::string pointer;
    Json value;  // a text or a matrix
  };
  void add_fabric_parts(const Json& intra);
  void add_network_parts(const Json& cluster);
  Json scaled(const Json& value, double factor) const;
  Dimension dimension_;
  std::vector<Part> parts_;
  std::size_t nic_ = 0;  // index of the part that limits NICs
  bool all_zero_ = false;
};

/// A quantity with three significant digits: "7.91 Gbps", "350 us".
std::string readable(double value, Dimension dimension);

}  // namespace trigram
