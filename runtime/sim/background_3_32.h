#pragma once

#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Host.hpp>
#include <vector>

#include "core/random/philox.h"
#include "netmodels/cluster.h"

namespace trigram::sim {

/// Traffic of others, as the description of a cluster draws it: a model of SimGrid's engine. Where
/// nothing else is under way it has no next event, so that the simulation ends, and actors which
/// wait for each other for ever are found out.
class BackgroundTraffic final : public simgrid::kernel::resource::Model {
 public:
  /// `hosts` where messages of each rank arrive, and `others` from where flows leave beside it.
  BackgroundTraffic(const Cluster& cluster, const std::vector<simgrid::s4u::Host*>& hosts,
                    const std::vector<simgrid::s4u::Host*>& others);

  double next_occurring_event(double now) override;
  void update_actions_state(double now, double delta) override;

 private:
  /// A NIC, and when its next flow starts.
  struct Source {
    simgrid::s4u::Host *host, *other;
    int node;
    Philox random;
    double next_s;
  };
  bool others_are_under_way();
  void start(Source& source);
  double gap_s(Source& source) const;

  Background background_;
  double mean_gap_s_;
  std::vector<Source> sources_;
  std::vector<simgrid::s4u::CommPtr> flows_;  // under way
  bool others_ = false;                       // are, until the next event
};

}  // namespace trigram::sim
