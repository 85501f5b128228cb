#pragma once

#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u/Link.hpp>

#include <memory>
#include <vector>

#include "netmodels/network/network.h"

namespace trigram::sim {

/// A link whose bandwidth changes while messages use it.
///
/// SimGrid limits a message, for as long as it is in flight, to the bandwidth that the links of its
/// route had when it left. So the SimGrid link always has its largest bandwidth, and the solver is
/// given a fraction of it.
class ChangingLink {
 public:
  /// `link` must have its largest bandwidth and must not be sealed yet.
  explicit ChangingLink(simgrid::s4u::Link* link)
      : link_(link), largest_Bps_(link->get_bandwidth()), share_(std::make_shared<double>(1)) {
    link->set_sharing_policy(
        simgrid::s4u::Link::SharingPolicy::NONLINEAR,
        [share = share_](double capacity_Bps, int) { return capacity_Bps * *share; });
  }
  void set_bandwidth(double Bps) {
    *share_ = Bps / largest_Bps_;
    link_->set_bandwidth(largest_Bps_);  // makes the solver evaluate the fraction again
  }
  double used_Bps() const { return link_->get_usage(); }

 private:
  simgrid::s4u::Link* link_;
  double largest_Bps_;
  std::shared_ptr<double> share_;
};

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
