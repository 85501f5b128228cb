#pragma once

#include <memory>
#include <simgrid/s4u/Link.hpp>

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

}  // namespace trigram::sim
