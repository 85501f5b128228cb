#pragma once

#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// Whether a cluster description in canonical form has a single node, so that all messages pass the
/// fabric inside it.
bool has_one_node(const Json& cluster);

/// The bandwidth, or the latency, of the network between nodes as one thing that can be changed:
/// of NICs, of token buckets at them, and of the links of a topology that say their own. What
/// software takes (`transport`) and the fabric inside nodes stay. Of a cluster of one node it is
/// the fabric inside: ports, and the host bridge where it has its own bandwidth.
class NetworkScale {
 public:
  /// Of a cluster description in canonical form.
  NetworkScale(const Json& cluster, Dimension dimension);
  /// Of another time that can be changed, which stands at `pointer`.
  NetworkScale(std::string pointer, double seconds);

  /// {"/cluster/...": value} for all that is changed, with `factor` times what is described; of
  /// latencies that are all zero, `factor` microseconds.
  Json at(double factor) const;
  /// Whether what is described is zero, so that only `factor` 0 leaves it as it is.
  bool from_zero() const { return from_zero_; }

  /// "7.9 Gbps", of NICs or ports; with those of a topology's links where they say their own.
  std::string text(double factor) const;
  /// The bandwidth or latency of a NIC or a port, in base units.
  double value(double factor) const;

 private:
  struct Part {
    std::string pointer;
    Json value;  // a text, or a matrix
  };
  void take_fabric(const Json& intra);
  void take_network(const Json& cluster);
  Json scaled(const Json& value, double factor) const;
  Dimension dimension_;
  std::vector<Part> parts_;
  std::size_t nic_ = 0;  // of the parts, the one that limits NICs
  bool from_zero_ = false;
};

/// A quantity to three digits: "7.91 Gbps", "350 us".
std::string readable(double value, Dimension dimension);

}  // namespace trigram
