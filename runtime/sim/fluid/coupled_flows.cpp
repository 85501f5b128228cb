#include "runtime/sim/fluid/coupled_flows.h"

#include <algorithm>
#include <simgrid/s4u/Actor.hpp>

namespace trigram::sim {
namespace {

void count(std::vector<int>& by_link, std::span<const LinkId> links, int change) {
  for (const LinkId link : links) by_link[static_cast<std::size_t>(link)] += change;
}

}  // namespace

CoupledFlows::CoupledFlows(World& world)
    : world_(world),
      foreseeable_(predictable(world.cluster())),
      flowing_(world.network().links().size()),
      sending_(world.network().links().size()) {}

bool CoupledFlows::busy(LinkId link) const {
  return flowing_[static_cast<std::size_t>(link)] > 0 ||
         sending_[static_cast<std::size_t>(link)] > 0;
}

std::shared_ptr<const CoupledFlows::Flow> CoupledFlows::start(const CoupledRounds& pattern,
                                                              double bytes, double start_s,
                                                              double alone_s,
                                                              std::function<void(double)> on_end) {
  const double end_s = start_s + alone_s;
  auto flow = std::make_shared<Flow>(Flow{pattern, bytes, start_s, alone_s, std::move(on_end)});
  const auto& links = pattern.links();
  const bool shares_link = std::ranges::any_of(links, [&](LinkId id) { return busy(id); });
  if (shares_link) share(links);
  count(flowing_, links, 1);
  flows_.push_back(flow);
  // The last arrival time may become known late: by then all members have arrived, and the
  // collective may even have ended.
  world_.simulation().at(std::max(end_s, Simulation::clock()), [this, flow, end_s] {
    if (flow->alone) end(flow, end_s);
  });
  if (shares_link || !foreseeable_) simulate(flow);
  return flow;
}

/// Called when other traffic starts on these links: flows that use them are no longer alone.
void CoupledFlows::share(std::span<const LinkId> links) {
  ++shared_count_;
  std::vector<bool> in_use(flowing_.size());
  for (const LinkId link : links) in_use[static_cast<std::size_t>(link)] = true;
  const auto flows = flows_;
  for (const auto& flow : flows) {
    const auto shares_link = [&](LinkId link) { return in_use[static_cast<std::size_t>(link)]; };
    if (flow->alone && std::ranges::any_of(flow->pattern.links(), shares_link)) simulate(flow);
  }
}

/// Simulates the remainder of a flow in SimGrid, unless all bytes have passed.
void CoupledFlows::simulate(const std::shared_ptr<Flow>& flow) {
  const CoupledRounds& pattern = flow->pattern;
  const double latency_s =
      world_.network().latency(pattern.slowest_source(), pattern.slowest_destination());
  const double passed_s = Simulation::clock() - flow->start_s;
  const double left = flow->bytes - std::max(0.0, passed_s - latency_s) * pattern.bandwidth();
  if (left <= 0) return;
  flow->alone = false;
  // The SimGrid flow for the remainder takes the latency again.
  const double rest_s =
      flow->alone_s - latency_s - flow->bytes / pattern.bandwidth() - std::min(passed_s, latency_s);
  world_.simulation().spawn(pattern.slowest_source(), "flow", [this, flow, left, rest_s] {
    world_.simulation().start_flow(flow->pattern, left)->wait();
    world_.halt_if_ended();
    if (rest_s > 0) simgrid::s4u::this_actor::sleep_for(rest_s);
    world_.halt_if_ended();
    end(flow, Simulation::clock());
  });
}

void CoupledFlows::end(const std::shared_ptr<Flow>& flow, double date_s) {
  count(flowing_, flow->pattern.links(), -1);
  flows_.erase(std::find(flows_.begin(), flows_.end(), flow));
  flow->on_end(date_s);
}

const std::vector<LinkId>& CoupledFlows::links_of(int source, int destination) {
  links_.clear();
  world_.network().route(source, destination, links_);
  return links_;
}

void CoupledFlows::message_starts(int source, int destination) {
  const auto& links = links_of(source, destination);
  count(sending_, links, 1);
  if (std::ranges::any_of(links, [&](LinkId id) { return flowing_[std::size_t(id)] > 0; }))
    share(std::vector(links));
}

void CoupledFlows::message_ends(int source, int destination) {
  count(sending_, links_of(source, destination), -1);
}

}  // namespace trigram::sim
