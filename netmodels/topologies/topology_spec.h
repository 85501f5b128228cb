#pragma once

#include <cstdint>
#include <string>

#include "core/config/option_type.h"

namespace trigram {

/// How nodes are joined beyond their NICs: a kind of netmodels/topologies, and its options,
/// resolved.
struct TopologySpec {
  std::string kind = "flat";
  Json options = Json::object();
};

/// All that a topology knows of the nodes that it joins.
struct AttachedNodes {
  std::int64_t count = 1;
  double nic_Bps = 0;  // bandwidth of each direction of a NIC, before jitter
};

}  // namespace trigram
