#include "runtime/sim/world.h"

#include <simgrid/s4u/Actor.hpp>
#include <utility>

#include "core/check.h"
#include "netmodels/link_queues.h"
#include "runtime/sim/caught.h"
#include "runtime/sim/fluid/fluid_collectives.h"
#include "runtime/sim/stream.h"

namespace trigram::sim {
namespace {

/// True if collectives may be simulated as coupled flows instead of messages: with the fidelity
/// fluid wherever that is possible, otherwise only where it is exact.
bool may_use_flows(const SimOptions& options, const Cluster& cluster) {
  using Fidelity = SimOptions::Fidelity;
  if (options.fidelity == Fidelity::message) return false;
  return (options.fidelity == Fidelity::fluid ? can_couple(cluster) : predictable(cluster)) &&
         options.network_model == SimOptions::NetworkModel::alpha_beta;
}

}  // namespace

World::World(const SimOptions& options, const Cluster& cluster, const Layout& layout,
             std::shared_ptr<const Network> network, Simulation& simulation, std::string job)
    : options_(options),
      cluster_(cluster),
      network_(std::move(network)),
      partitioned_(has_partitions(cluster)),
      layout_(layout),
      simulation_(simulation),
      job_(std::move(job)) {
  if (may_use_flows(options, cluster))
    fluid_ =
        std::make_unique<FluidCollectives>(*this, options.fidelity == SimOptions::Fidelity::fluid);
  if (cluster_.accelerator.overlap_slowdown > 1)
    overlap_ = std::make_unique<Overlap>(cluster_.ranks());
}

World::~World() = default;

void World::start(const Task& rank_main, std::function<void()> ended) {
  when_ended_ = std::move(ended);
  for (int rank = 0; rank < layout_.ranks(); ++rank)
    add_stream(
        rank, kMainStream, "main", [&rank_main](SimStream& main) { rank_main(main.context()); },
        kMainStream);
}

void World::deadlock() {
  if (live_ > 0) failure_ = hang_failure();
}

std::exception_ptr World::outcome() {
  ended_ = true;
  if (!failure_) failure_ = unobserved_failure();
  if (failure_ || live_ > 0) return failure_;
  if (const auto lines = unreceived(); !lines.empty())
    failure_ = std::make_exception_ptr(hang_error(lines));
  return failure_;
}

void World::end_at(double date_s) {
  simulation_.at(date_s, [this, date_s] {
    if (ended_ || !Simulation::has_actors()) return;
    ended_ = true;
    failure_ = std::make_exception_ptr(
        SimulationEnded(fmt::format("the simulation was ended at {:g} s", date_s)));
    simulation_.stop();
  });
}

double World::control_arrival_s(double date_s, int source, int destination) {
  const double latency_s = latency(date_s, source, destination);
  if (!partitioned_) return date_s + latency_s;
  const auto [route, is_new] = control_routes_.try_emplace(
      direction(source, destination, false), interrupted_connection(source, destination));
  return route->second.end_s(date_s, latency_s);
}

double World::queueing_s(int source, int destination) const {
  std::vector<BulkFlow> flows;
  for (const auto& stream : streams_)
    for (const auto& connection : stream->communicator().connections())
      if (const double unsent = connection->between_nodes() ? connection->unsent_bytes() : 0;
          unsent > 0)
        flows.push_back(
            {stream->rank(), connection->destination(), unsent, connection->window_bytes()});
  double factor = 1;
  for (const LinkChange& change : network_->profile())
    if (change.at_s <= Simulation::clock()) factor = change.bandwidth_factor;
  return trigram::queueing_s(*network_, flows, source, destination, factor);
}

double World::heartbeat_arrival_s(int source, int destination, double nbytes, bool behind_bulk) {
  const double now_s = Simulation::clock();
  if (source == destination) return now_s;
  const double takes_s = (behind_bulk ? queueing_s(source, destination) : 0) +
                         latency(now_s, source, destination) +
                         nbytes / network_->bandwidth(source, destination, rate());
  if (!partitioned_) return now_s + takes_s;
  const auto [route, is_new] = heartbeat_routes_.try_emplace(
      direction(source, destination, false), interrupted_connection(source, destination));
  return route->second.end_s(now_s, takes_s);
}

SimStream& World::add_stream(int rank, StreamId id, const std::string& name,
                             std::function<void(SimStream&)> body, StreamId receiver) {
  Group& on_all_ranks = group(id);
  if (on_all_ranks.name.empty()) on_all_ranks.name = name;
  check_fork_name(rank, name, on_all_ranks.name);
  SimStream& stream =
      *streams_.emplace_back(std::make_unique<SimStream>(*this, rank, id, name, receiver));
  on_all_ranks.streams[static_cast<std::size_t>(rank)] = &stream;
  auto actor =
      simulation_.spawn(cluster_.whole_rank(rank), fmt::format("rank {} {}", rank, name),
                        [this, &stream, body = std::move(body)] { run_actor(stream, body); });
  ++live_;
  if (id == kMainStream) main_actors_.push_back(actor);
  return stream;
}

void World::run_actor(SimStream& stream, const std::function<void(SimStream&)>& body) {
  const auto actor = static_cast<std::size_t>(simgrid::s4u::this_actor::get_pid());
  if (by_actor_.size() <= actor) by_actor_.resize(actor + 1);
  by_actor_[actor] = &stream;
  halt_if_ended();
  const auto failure = caught([&] {
    body(stream);
    stream.end();
  });
  if (failure) fail(failure);
  if (--live_ == 0 && when_ended_) when_ended_();
}

SimStream* World::current() const {
  const auto actor = static_cast<std::size_t>(simgrid::s4u::this_actor::get_pid());
  return actor < by_actor_.size() ? by_actor_[actor] : nullptr;
}

World::Group& World::group(StreamId id) {
  Group& group = groups_[id];
  if (group.inboxes.empty()) {
    group.inboxes.resize(static_cast<std::size_t>(layout_.ranks()));
    group.streams.resize(static_cast<std::size_t>(layout_.ranks()));
  }
  return group;
}

Json World::notes() const {
  if (options_.fidelity == SimOptions::Fidelity::message) return Json::object();
  if (!fluid_) return {{"collectives_fluid", 0}};
  const auto& counts = fluid_->counts();
  Json notes = {{"collectives_fluid", counts.fluid},
                {"collectives_by_messages", counts.by_messages},
                {"collectives_sharing_links", counts.shared}};
  if (counts.between_unequal_nics > 0)
    notes["all_to_all_between_unequal_nics"] = counts.between_unequal_nics;
  return notes;
}

SimStream& World::stream(StreamId id, int rank) {
  return *group(id).streams[static_cast<std::size_t>(rank)];
}

Inbox& World::inbox(StreamId id, int rank) {
  return group(id).inboxes[static_cast<std::size_t>(rank)];
}

void World::deliver(double date, StreamId id, int rank, int tag, const Message& message) {
  auto [found, is_new] = deliveries_.try_emplace(date);
  found->second.push_back({&inbox(id, rank), tag, message});
  if (!is_new) return;
  simulation_.at(date, [this, date] {
    const auto due = std::move(deliveries_.extract(date).mapped());
    for (const Delivery& d : due) d.inbox->push(d.tag, d.message);
  });
}

void World::fail(std::exception_ptr failure) {
  halt_if_ended();  // only the first failure counts
  failure_ = std::move(failure);
  ended_ = true;
  simulation_.stop();
  // Ending this actor would fail its messages, and its peers would react to that.
  halt();
}

void World::halt() const {
  while (true) simgrid::s4u::this_actor::suspend();
}

std::exception_ptr World::unobserved_failure() const {
  for (const auto& stream : streams_)
    if (auto failure = stream->unobserved_failure()) return failure;
  return nullptr;
}

/// Lists messages that an eager transport has accepted and no stream will ever receive. Their
/// senders do not wait for them. Messages whose receiver is blocked are left out: hang_failure()
/// lists the receiver itself.
std::vector<std::string> World::unreceived() const {
  std::vector<std::string> lines;
  for (const auto& stream : streams_)
    for (const int peer : stream->communicator().ranks_yet_to_receive()) {
      const SimStream* receiver =
          groups_.at(stream->receiver()).streams[static_cast<std::size_t>(peer)];
      if (receiver && receiver->waiting().kind != Wait::none) continue;
      lines.push_back(wait_line(*stream, {.kind = Wait::receiver, .peer = peer}));
    }
  return lines;
}

std::string World::wait_line(const SimStream& stream, const Wait& wait) const {
  return (job_.empty() ? "" : "job " + job_ + ": ") + wait_text(stream.rank(), stream.name(), wait);
}

std::exception_ptr World::hang_failure() const {
  // A failed task may be the reason why other streams wait.
  if (auto failure = unobserved_failure()) return failure;
  std::vector<std::string> lines;
  for (const auto& stream : streams_)
    if (stream->waiting().kind != Wait::none)
      lines.push_back(wait_line(*stream, stream->waiting()));
  for (std::string& line : unreceived()) lines.push_back(std::move(line));
  return std::make_exception_ptr(hang_error(lines));
}

}  // namespace trigram::sim
