// SimGrid 3.32: start-up, platform, actors and timers.
#include <xbt/log.h>
#include <array>
#include <csignal>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/simix.hpp>

#include "core/check.h"
#include "runtime/sim/simulation.h"

namespace trigram::sim {
namespace {

namespace s4u = simgrid::s4u;
namespace routing = simgrid::kernel::routing;
using simgrid::kernel::resource::StandardLinkImpl;

std::vector<std::string> settings(const SimOptions& options) {
  std::vector<std::string> all = {
      "contexts/factory:raw",
      "contexts/stack-size:256",  // KiB; SimGrid takes smaller ones from the heap
      "contexts/guard-size:1",    // pages
      "network/optim:Lazy",      "surf/precision:1e-12",
  };
  if (options.network_model == SimOptions::NetworkModel::tcp) {
    all.push_back("network/model:LV08");
  } else {
    for (const char* setting :
         {"network/model:CM02", "network/latency-factor:1", "network/bandwidth-factor:1",
          "network/weight-S:0", "network/crosstraffic:0",
          // Out of reach. Not 0, which silently disables every limit on the rate of a flow.
          "network/TCP-gamma:1e20"})
      all.push_back(setting);
  }
  return all;
}

void start_engine(const SimOptions& options) {
  TRIGRAM_CHECK(!s4u::Engine::is_initialized(), "a process can simulate only once");
  xbt_log_control_set("root.thresh:critical");
  // Its report of a deadlock says less than ours.
  xbt_log_control_set("ker_engine.add:no");
  xbt_log_control_set("ker_engine.app:file:/dev/null");
  std::vector<std::string> arguments = {"trigram"};
  for (const std::string& setting : settings(options)) arguments.push_back("--cfg=" + setting);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(arguments.size());
  struct sigaction interrupt;
  sigaction(SIGINT, nullptr, &interrupt);
  new s4u::Engine(&argc, argv.data());  // lives as long as the process: SimGrid cannot start again
  sigaction(SIGINT, &interrupt, nullptr);  // SimGrid would take it
}

/// Thrown in SimGrid's main loop, to leave it.
struct Stop {};

/// The routes of a cluster, computed when asked for: memory is linear in the number of workers, and
/// the latency of a route is what the description says, to the last bit.
class ClusterZone final : public routing::NetZoneImpl {
 public:
  explicit ClusterZone(const Cluster& cluster)
      : NetZoneImpl("cluster"),
        cluster_(cluster),
        loopback_(link("loopback", cluster.loopback_bandwidth())) {
    loopback_->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE);
    for (int node = 0; node < cluster.nodes; ++node)
      nics_.push_back(duplex("nic", node, cluster.nic_bandwidth(node)));
    for (int rank = 0; rank < cluster.ranks(); ++rank) {
      ports_.push_back(duplex("port", rank, cluster.port_bandwidth(rank)));
      entries_.push_back(entries(rank));
    }
  }

  std::vector<s4u::Host*> add_hosts() {
    std::vector<s4u::Host*> hosts;
    for (int rank = 0; rank < cluster_.ranks(); ++rank) {
      auto* host = get_iface()->create_host(std::to_string(rank), 1.0);
      TRIGRAM_CHECK(host->get_netpoint()->id() == static_cast<unsigned long>(rank),
                    "host {} has another place in its zone", rank);
      hosts.push_back(host);
    }
    get_iface()->seal();
    return hosts;
  }

  void get_local_route(const routing::NetPoint* source, const routing::NetPoint* destination,
                       routing::Route* route, double* latency) override {
    const auto from = source->id(), to = destination->id();
    const int from_rank = static_cast<int>(from), to_rank = static_cast<int>(to);
    auto& links = route->link_list_;
    if (from == to) {
      links.push_back(loopback_->get_impl());
    } else {
      links.push_back(entry(from));
      const auto from_node = static_cast<std::size_t>(cluster_.node_of(from_rank));
      const auto to_node = static_cast<std::size_t>(cluster_.node_of(to_rank));
      const bool inside = from_node == to_node;
      links.push_back(inside ? ports_[from].out : nics_[from_node].out);
      links.push_back(inside ? ports_[to].in : nics_[to_node].in);
    }
    if (latency) *latency += cluster_.latency(from_rank, to_rank);
  }

 private:
  /// Two links: one link for both directions would be half duplex.
  struct Duplex {
    StandardLinkImpl *out, *in;
  };
  s4u::Link* link(const std::string& name, double bandwidth_Bps) {
    return get_iface()->create_link(name, bandwidth_Bps);
  }
  Duplex duplex(const std::string& kind, int index, double bandwidth_Bps) {
    const std::string name = kind + " " + std::to_string(index);
    return {link(name + " out", bandwidth_Bps)->get_impl(),
            link(name + " in", bandwidth_Bps)->get_impl()};
  }

  /// Links without limits, one of which is the first of every route from a rank, in turns.
  ///
  /// When a flow starts, SimGrid's lazy solver looks for all that it affects from the first link of
  /// its route, and not at all if that link was affected at the same date before
  /// (System::update_modified_cnst_set_from_variable). With a NIC in its place, the second of two
  /// flows that start together could take more than the link at its far end has to give. A first
  /// link that no other flow passes is never affected before; so this is right as long as no rank
  /// has more messages under way than there are turns.
  struct Entries {
    std::array<StandardLinkImpl*, 16> links;
    std::size_t next = 0;
  };
  Entries entries(int rank) {
    Entries all;
    for (std::size_t i = 0; i < all.links.size(); ++i) {
      auto* created =
          link("entry " + std::to_string(rank) + " " + std::to_string(i), kUnlimited_Bps);
      created->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE);
      all.links[i] = created->get_impl();
    }
    return all;
  }
  StandardLinkImpl* entry(std::size_t rank) {
    Entries& own = entries_[rank];
    return own.links[own.next++ % own.links.size()];
  }

  static constexpr double kUnlimited_Bps = 1e30;
  Cluster cluster_;
  std::vector<Entries> entries_;
  s4u::Link* loopback_;
  std::vector<Duplex> nics_, ports_;
};

}  // namespace

Simulation::Simulation(const SimOptions& options, const Cluster& cluster) {
  start_engine(options);
  auto* zone = new ClusterZone(cluster);  // the first zone is the root, and the engine owns it
  hosts_ = zone->add_hosts();
}

double Simulation::clock() { return s4u::Engine::get_clock(); }

s4u::ActorPtr Simulation::spawn(int rank, const std::string& name, std::function<void()> body) {
  return s4u::Actor::create(name, hosts_[static_cast<std::size_t>(rank)], std::move(body));
}

void Simulation::at(double date, std::function<void()> action) {
  simgrid::kernel::timer::Timer::set(date, std::move(action));
}

void Simulation::in_one_switch(const std::function<void()>& action) {
  simgrid::kernel::actor::simcall_answered(action);
}

void Simulation::run(const std::function<void()>& on_deadlock) {
  s4u::Engine::on_deadlock_cb([&on_deadlock] {
    on_deadlock();
    throw Stop();  // before SimGrid unwinds the actors
  });
  try {
    s4u::Engine::get_instance()->run();
  } catch (const Stop&) {
  }
}

void Simulation::stop() {
  at(clock(), [] { throw Stop(); });
}

}  // namespace trigram::sim
