#pragma once

#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Host.hpp>
#include <vector>

#include "core/random/philox.h"
#include "netmodels/cluster.h"

namespace trigram::sim {

/// Traffic of others, as the description of a cluster draws it: a model of SimGrid's engine. Where
/// nothing else is under way it has no next event, so that actors which wait for each other for
/// ever are still found out.
class BackgroundTraffic final : public simgrid::kernel::resource::Model {
 public:
  /// `hosts` by rank.
  BackgroundTraffic(const Cluster& cluster, const std::vector<simgrid::s4u::Host*>& hosts);

  double next_occurring_event(double now) override;
  void update_actions_state(double now, double delta) override;

 private:
  /// A NIC, and the flow that it sends now or next.
  struct Source {
    simgrid::s4u::Host* host;
    int node;
    Philox random;
    double next_s;
    simgrid::s4u::CommPtr flow = nullptr;
    bool sends() const;
  };
  bool others_are_under_way() const;
  void start(Source& source);
  double gap_s(Source& source) const;

  Background background_;
  double mean_gap_s_;
  std::vector<Source> sources_;
};

}  // namespace trigram::sim
