#pragma once

#include <simgrid/kernel/resource/Model.hpp>
#include <vector>

#include "netmodels/network/network.h"
#include "runtime/sim/changing_link_3_32.h"

namespace trigram::sim {

/// Token buckets at links, as a fluid: a model of SimGrid's engine, beside that of the network,
/// which the engine asks for its next event once bandwidths are shared, and tells of time passed.
///
/// A link has its bandwidth for bursts while there is credit, and that of the credit's rate when it
/// has run out. Between events rates are constant, so credit is a straight line, and runs out at a
/// date that is known.
class Shaper final : public simgrid::kernel::resource::Model {
 public:
  Shaper() : Model("shaper") {}
  void add(const Link& described, const ChangingLink& link);
  bool empty() const { return buckets_.empty(); }
  /// Bytes of credit by now, in the order in which links were added.
  std::vector<double> credits() const;

  double next_occurring_event(double now) override;
  void update_actions_state(double now, double delta) override;

 private:
  struct Bucket {
    ChangingLink link;
    double burst_Bps, rate_Bps, depth_bytes;
    double credit_bytes;
    double used_Bps = 0;  // until the next event
    bool bursting = true;
    double falling_Bps() const { return used_Bps - rate_Bps; }
  };
  std::vector<Bucket> buckets_;
};

}  // namespace trigram::sim
