#include "runtime/sim/background_3_32.h"

#include <algorithm>
#include <cmath>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u/Engine.hpp>

#include "core/math/elementary.h"
#include "core/random/philox.h"

namespace trigram::sim {
namespace {

namespace s4u = simgrid::s4u;

/// The random numbers of steps 0 and 1 belong to varying bandwidths (Cluster::nic_bandwidth,
/// port_bandwidth).
constexpr long kStep = 2;

double exponential(double mean, Philox& random) {
  return -mean * log_portable(1.0 - static_cast<double>(random.uniform()));
}

}  // namespace

BackgroundTraffic::BackgroundTraffic(const Cluster& cluster, const std::vector<s4u::Host*>& hosts,
                                     const std::vector<s4u::Host*>& background_hosts)
    : Model("background"),
      background_(cluster.inter.background),
      mean_gap_s_(background_.flow_bytes /
                  (background_.load * cluster.transport.goodput * cluster.inter.bandwidth_Bps)) {
  const int step = cluster.nics == Nics::shared ? static_cast<int>(cluster.workers_per_node) : 1;
  for (int rank = 0; rank < cluster.ranks(); rank += step) {
    const auto at = static_cast<std::size_t>(rank);
    const Philox random(static_cast<std::uint64_t>(background_.seed), rank, kStep,
                        Purpose::network_jitter);
    sources_.push_back({hosts[at], background_hosts[at], cluster.node_of(rank), random, 0});
    sources_.back().next_s = gap_s(sources_.back());
  }
}

double BackgroundTraffic::gap_s(Source& source) const {
  return exponential(mean_gap_s_, source.random);
}

bool BackgroundTraffic::others_are_active() {
  const auto* engine = s4u::Engine::get_instance();
  if (engine->get_actor_count() == 0) return false;  // true even if timers are left
  if (simgrid::kernel::timer::Timer::next() >= 0) return true;
  std::erase_if(flows_, [](const s4u::CommPtr& flow) {
    return flow->get_state() == s4u::Activity::State::FINISHED;
  });
  std::size_t all = 0;
  for (auto* model : engine->get_all_models()) all += model->get_started_action_set()->size();
  return all > flows_.size();
}

double BackgroundTraffic::next_occurring_event(double now) {
  others_active_ = others_are_active();
  if (!others_active_) return -1;
  double next_s = sources_.front().next_s;
  for (const Source& source : sources_) next_s = std::min(next_s, source.next_s);
  return std::max(0.0, next_s - now);
}

/// SimGrid also calls this for the ends of background flows when nothing else is in flight. No new
/// flow starts then; otherwise a busy network would never become idle.
void BackgroundTraffic::update_actions_state(double now, double) {
  if (!others_active_) return;
  for (Source& source : sources_)
    if (source.next_s <= now) start(source);
}

void BackgroundTraffic::start(Source& source) {
  const double bytes = exponential(background_.flow_bytes, source.random);
  std::vector<s4u::Host*> destinations;
  for (const Source& other : sources_)
    if (other.node != source.node) destinations.push_back(other.host);
  s4u::Host* to =
      destinations[source.random.below(static_cast<std::uint32_t>(destinations.size()))];
  flows_.push_back(s4u::Comm::sendto_async(source.background_host, to,
                                           1 + static_cast<std::uint64_t>(std::llround(bytes))));
  source.next_s += gap_s(source);
}

}  // namespace trigram::sim
