// The parts that depend on SimGrid 3.32: start-up, platform, actors and timers.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xbt/log.h>

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

/// Replaces the C library's mprotect. SimGrid protects a guard page at the end of every stack to
/// detect overflows. A stack with a guard page takes two memory mappings, and the kernel limits a
/// process to vm.max_map_count of them. SimGrid's own option without guard pages clears the stacks,
/// so that they use all their memory at once.
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
      "contexts/stack-size:256",  // KiB; SimGrid allocates smaller ones on the heap
      "contexts/guard-size:1",    // pages
      "network/optim:Lazy",      "surf/precision:1e-12",
  };
  if (options.network_model == SimOptions::NetworkModel::tcp) {
    all.push_back("network/model:LV08");
  } else {
    // The latency factor is 1 and must not be set here: NetworkZone sets it for each route.
    // TCP-gamma is effectively unlimited. It is not 0, which silently disables every limit on the
    // rate of a flow.
    all.insert(all.end(), {"network/model:CM02", "network/bandwidth-factor:1", "network/weight-S:0",
                           "network/crosstraffic:0", "network/TCP-gamma:1e20"});
  }
  return all;
}

bool can_guard_stacks(int ranks) {
  constexpr long kStreams = 16;  // streams per rank; no algorithm has more
  long most = 65530;             // the default of Linux
  std::ifstream("/proc/sys/vm/max_map_count") >> most;
  return 2 * kStreams * ranks < most;
}

/// Stacks without guard pages are adjacent, so the kernel could use huge pages for them, which
/// would fill memory that the stacks do not use. The process's own stack, on which SimGrid's kernel
/// runs, must be large: SimGrid follows messages that share links by recursion.
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
  // SimGrid's report of a deadlock says less than a HangError.
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
  new s4u::Engine(&argc, argv.data());     // never deleted: SimGrid cannot start again
  sigaction(SIGINT, &interrupt, nullptr);  // otherwise SimGrid would handle it
}

/// Thrown to leave SimGrid's main loop.
struct Stop {};

}  // namespace

Simulation::Simulation(const SimOptions& options, const Cluster& cluster, const Network& network) {
  start_engine(options, cluster.ranks());
  // The first zone is the root zone; the engine owns it.
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
    const auto first_background = hosts_.end() - cluster.ranks();
    const std::vector<s4u::Host*> background_hosts(first_background, hosts_.end());
    hosts_.erase(first_background, hosts_.end());
    s4u::Engine::get_instance()->add_model(
        std::make_shared<BackgroundTraffic>(cluster, hosts_, background_hosts));
  }
}

double Simulation::clock() { return s4u::Engine::get_clock(); }

s4u::ActorPtr Simulation::spawn(int rank, const std::string& name, std::function<void()> body) {
  return s4u::Actor::create(name, hosts_[static_cast<std::size_t>(rank)], std::move(body));
}

bool Simulation::has_actors() { return s4u::Engine::get_instance()->get_actor_count() > 0; }

void Simulation::at(double date, std::function<void()> action) {
  simgrid::kernel::timer::Timer::set(date, std::move(action));
}

s4u::CommPtr Simulation::start_flow(const CoupledRounds& rounds, double bytes) {
  s4u::CommPtr flow;
  in_one_switch([&] {
    zone_->couple(&rounds);
    // Setting both hosts starts the flow. start() would start it again and double it.
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

void Simulation::suspend(const s4u::Comm& message) { zone_->flow_of(message).suspend(); }

void Simulation::resume(const s4u::Comm& message) { zone_->flow_of(message).resume(); }

void Simulation::watch(Connection& connection) { watch_->add(connection); }

std::vector<double> Simulation::credits() const { return zone_->shaper()->credits(); }

void Simulation::in_one_switch(const std::function<void()>& action) {
  simgrid::kernel::actor::simcall_answered(action);
}

void Simulation::run(const std::function<void()>& on_deadlock) {
  s4u::Engine::on_deadlock_cb([&on_deadlock] {
    on_deadlock();
    throw Stop();  // leaves before SimGrid unwinds the actors
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
