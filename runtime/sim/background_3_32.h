#pragma once

#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Host.hpp>
#include <vector>

#include "core/random/philox.h"
#include "netmodels/cluster.h"

namespace trigram::sim {

/// Background traffic from outside the training job, with the distributions of the cluster
/// description. It is a model in the sense of SimGrid's engine. While nothing else is in flight it
/// reports no next event: so the simulation can end, and actors that wait for each other for ever
/// are detected as a deadlock.
class BackgroundTraffic final : public simgrid::kernel::resource::Model {
 public:
  /// `hosts` are the destinations of messages to each rank; `background_hosts` are the sources of
  /// background flows, one per rank.
  BackgroundTraffic(const Cluster& cluster, const std::vector<simgrid::s4u::Host*>& hosts,
                    const std::vector<simgrid::s4u::Host*>& background_hosts);

  double next_occurring_event(double now) override;
  void update_actions_state(double now, double delta) override;

 private:
  /// A NIC, and the time at which its next background flow starts.
  struct Source {
    simgrid::s4u::Host *host, *background_host;  // destination and source of background flows
    int node;
    Philox random;
    double next_s;
  };
  bool others_are_active();  // true if anything but background flows is in progress
  void start(Source& source);
  double gap_s(Source& source) const;

  Background background_;
  double mean_gap_s_;
  std::vector<Source> sources_;
  std::vector<simgrid::s4u::CommPtr> flows_;  // in flight
  bool others_active_ = false;                // other activity is in progress until the next event
};

}  // namespace trigram::sim
