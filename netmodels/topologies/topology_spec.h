#pragma once

#include <cstdint>
#include <string>

#include "core/config/option_type.h"

namespace trigram {

/// How nodes are connected beyond their NICs: a kind from netmodels/topologies, and its resolved
/// options.
struct TopologySpec {
  std::string kind = "flat";
  Json options = Json::object();
};

/// The properties of the nodes that a topology knows.
struct AttachedNodes {
  std::int64_t count = 1;
  double nic_Bps = 0;  // bandwidth of each direction of a NIC, before jitter
};

}  // namespace trigram
