#pragma once

#include <simgrid/kernel/resource/Model.hpp>
#include <vector>

#include "netmodels/network/network.h"
#include "runtime/sim/changing_link_3_32.h"

namespace trigram::sim {

/// Token buckets at links, as a fluid model. It is a model in the sense of SimGrid's engine, in
/// addition to the network model. The engine asks it for its next event after bandwidths have been
/// shared, and tells it how much time has passed.
///
/// A link has its burst bandwidth while it has credit, and the rate of its token bucket when the
/// credit has run out. Rates are constant between events, so credit is linear in time and the date
/// at which it runs out is known.
class Shaper final : public simgrid::kernel::resource::Model {
 public:
  Shaper() : Model("shaper") {}
  void add(const Link& described, const ChangingLink& link);
  bool empty() const { return buckets_.empty(); }
  /// Current credit in bytes, in the order in which links were added.
  std::vector<double> credits() const;

  double next_occurring_event(double now) override;
  void update_actions_state(double now, double delta) override;

 private:
  struct Bucket {
    ChangingLink link;
    double burst_Bps, rate_Bps, depth_bytes;
    double credit_bytes;
    double used_Bps = 0;  // constant until the next event
    bool bursting = true;
    double falling_Bps() const { return used_Bps - rate_Bps; }
  };
  std::vector<Bucket> buckets_;
};

}  // namespace trigram::sim
