// SimGrid 3.32: start-up, platform, actors and timers.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xbt/log.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <fstream>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/simix.hpp>

#include "core/check.h"
#include "runtime/sim/background_3_32.h"
#include "runtime/sim/delivery_watch_3_32.h"
#include "runtime/sim/network_zone_3_32.h"
#include "runtime/sim/simulation.h"
#include "runtime/sim/world.h"

namespace {

bool guards_stacks = true;

}  // namespace

/// In place of the C library's. SimGrid makes a page that nobody may touch the end of every stack,
/// so that one that overflows is found. Such a stack is two mappings of memory, of which the kernel
/// gives a process vm.max_map_count. SimGrid's own stacks without such a page are cleared, and so
/// take all their memory at once.
extern "C" int mprotect(void* begin, std::size_t nbytes, int protection) noexcept {
  if (protection == PROT_NONE && !guards_stacks) return 0;
  return static_cast<int>(syscall(SYS_mprotect, begin, nbytes, protection));
}

namespace trigram::sim {
namespace {

namespace s4u = simgrid::s4u;

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
         // Its latency factor is 1, and may not be said: NetworkZone gives a factor by route.
         {"network/model:CM02", "network/bandwidth-factor:1", "network/weight-S:0",
          "network/crosstraffic:0",
          // Out of reach. Not 0, which silently disables every limit on the rate of a flow.
          "network/TCP-gamma:1e20"})
      all.push_back(setting);
  }
  return all;
}

bool can_guard_stacks(int ranks) {
  constexpr long kStreams = 16;  // of a rank, more than any algorithm has
  long most = 65530;             // Linux's default
  std::ifstream("/proc/sys/vm/max_map_count") >> most;
  return 2 * kStreams * ranks < most;
}

/// Stacks that are not guarded lie side by side, and huge pages would fill what they do not touch.
/// SimGrid's own stack, of the process, must be deep: it follows messages that share links from one
/// to the next by calls within calls.
void prepare_for_many_stacks() {
  guards_stacks = false;
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  rlimit own;
  getrlimit(RLIMIT_STACK, &own);
  own.rlim_cur = own.rlim_max;
  setrlimit(RLIMIT_STACK, &own);
}

void start_engine(const SimOptions& options, int ranks) {
  TRIGRAM_CHECK(!s4u::Engine::is_initialized(), "a process can simulate only once");
  xbt_log_control_set("root.thresh:critical");
  // Its report of a deadlock says less than ours.
  xbt_log_control_set("ker_engine.add:no");
  xbt_log_control_set("ker_engine.app:file:/dev/null");
  if (!can_guard_stacks(ranks)) prepare_for_many_stacks();
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

}  // namespace

Simulation::Simulation(const SimOptions& options, const Cluster& cluster, const Network& network) {
  start_engine(options, cluster.ranks());
  // The first zone is the root, and the engine owns it.
  zone_ = new NetworkZone(network, World::rate_of(cluster.transport));
  const bool has_background = cluster.inter.background.load > 0 && cluster.nodes > 1;
  hosts_ = zone_->add_hosts(has_background);
  if (options.network_model == SimOptions::NetworkModel::alpha_beta) zone_->share_evenly();
  if (const auto shaper = zone_->shaper(); !shaper->empty())
    s4u::Engine::get_instance()->add_model(shaper);
  watch_ = std::make_shared<DeliveryWatch>();
  s4u::Engine::get_instance()->add_model(watch_);
  for (const LinkChange& change : network.profile()) {
    if (change.at_s == 0) zone_->change(change);
    else at(change.at_s, [zone = zone_, change] { zone->change(change); });
  }
  if (has_background) {
    const auto others = hosts_.end() - cluster.ranks();
    const std::vector<s4u::Host*> of_others(others, hosts_.end());
    hosts_.erase(others, hosts_.end());
    s4u::Engine::get_instance()->add_model(
        std::make_shared<BackgroundTraffic>(cluster, hosts_, of_others));
  }
}

double Simulation::clock() { return s4u::Engine::get_clock(); }

s4u::ActorPtr Simulation::spawn(int rank, const std::string& name, std::function<void()> body) {
  return s4u::Actor::create(name, hosts_[static_cast<std::size_t>(rank)], std::move(body));
}

void Simulation::at(double date, std::function<void()> action) {
  simgrid::kernel::timer::Timer::set(date, std::move(action));
}

s4u::CommPtr Simulation::start_flow(const CoupledRounds& rounds, double bytes) {
  s4u::CommPtr flow;
  in_one_switch([&] {
    zone_->couple(&rounds);
    // It starts when its ends are known, and once more, doubled, if it is told to.
    flow = s4u::Comm::sendto_init();
    flow->set_payload_size(static_cast<std::uint64_t>(bytes / rounds.share()));
    flow->set_source(hosts_[hosts_.size() - 2]);
    flow->set_destination(hosts_.back());
  });
  return flow;
}

void Simulation::start(s4u::Comm& message, double latency_s) {
  in_one_switch([&] { zone_->start(message, latency_s); });
}

void Simulation::watch(Connection& connection) { watch_->add(connection); }

std::vector<double> Simulation::credits() const { return zone_->shaper()->credits(); }

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
