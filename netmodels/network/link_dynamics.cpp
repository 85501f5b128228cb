#include "netmodels/network/link_dynamics.h"

#include <fmt/format.h>

#include <cmath>

#include "core/config/option_types.h"

namespace trigram {

FieldTable<Shaping> shaping_fields() {
  return FieldTable<Shaping>{}
      .required("rate", &Shaping::rate_Bps, quantity(Dimension::bandwidth, true),
                "what a NIC may move in the long run, in each direction")
      .field("depth", &Shaping::depth_bytes, quantity(Dimension::bytes),
             "what it may move beyond that, at its own bandwidth, after it was idle")
      .field("initial", &Shaping::initial_bytes,
             written_where(quantity(Dimension::bytes),
                           [](double bytes) { return std::isfinite(bytes); }),
             "what of this it has at the start; all when it is not given");
}

FieldTable<LinkChange> link_change_fields() {
  return FieldTable<LinkChange>{}
      .required("at", &LinkChange::at_s, quantity(Dimension::duration),
                "when it begins, by the clock of the simulation")
      .field("bandwidth", &LinkChange::bandwidth_factor, number(0, 1e6, Open::below),
             "factor on the bandwidth of links between nodes")
      .field("latency", &LinkChange::latency_factor, number(0, 1e6),
             "factor on the latency between nodes");
}

void check_profile(const std::vector<LinkChange>& profile, const std::string& pointer) {
  for (std::size_t i = 1; i < profile.size(); ++i)
    if (profile[i].at_s <= profile[i - 1].at_s)
      throw ConfigError(child(child(pointer, std::to_string(i)), "at"),
                        "expected a later time than that before it");
}

FieldTable<Background> background_fields() {
  return FieldTable<Background>{}
      .required("load", &Background::load, number(0, kMostBackground),
                "share of the bandwidth of a NIC that it asks for in the mean, in each direction")
      .field("flow", &Background::flow_bytes, quantity(Dimension::bytes, true),
             "mean size of its flows")
      .field("seed", &Background::seed, integer(0), "seed of the draws");
}

}  // namespace trigram
