#include "netmodels/network/link_dynamics.h"

#include <fmt/format.h>

#include <cmath>

#include "core/config/option_type.h"

namespace trigram {

FieldTable<Shaping> shaping_fields() {
  return FieldTable<Shaping>{}
      .required("rate", &Shaping::rate_Bps, quantity(Dimension::bandwidth, true),
                "long-run rate of a NIC in each direction")
      .field("depth", &Shaping::depth_bytes, quantity(Dimension::bytes),
             "credit that an idle NIC saves: bytes that it may then move at its own bandwidth")
      .field(
          "initial", &Shaping::initial_bytes,
          dumped_if(quantity(Dimension::bytes), [](double bytes) { return std::isfinite(bytes); }),
          "credit of a NIC at the start; defaults to depth");
}

FieldTable<LinkChange> link_change_fields() {
  return FieldTable<LinkChange>{}
      .required("at", &LinkChange::at_s, quantity(Dimension::duration),
                "simulated time at which the change begins")
      .field("bandwidth", &LinkChange::bandwidth_factor, number(0, 1e6, Open::below),
             "factor on the bandwidth of links between nodes")
      .field("latency", &LinkChange::latency_factor, number(0, 1e6),
             "factor on the latency between nodes");
}

void check_profile(const std::vector<LinkChange>& profile, const std::string& pointer) {
  for (std::size_t i = 1; i < profile.size(); ++i)
    if (profile[i].at_s <= profile[i - 1].at_s)
      throw ConfigError(child(child(pointer, std::to_string(i)), "at"),
                        "expected a later time than that of the change before it");
}

FieldTable<Background> background_fields() {
  return FieldTable<Background>{}
      .required("load", &Background::load, number(0, kMostBackground),
                "mean load, as a share of a NIC's bandwidth, in each direction")
      .field("flow", &Background::flow_bytes, quantity(Dimension::bytes, true),
             "mean size of a flow")
      .field("seed", &Background::seed, integer(0), "seed of the draws");
}

}  // namespace trigram
