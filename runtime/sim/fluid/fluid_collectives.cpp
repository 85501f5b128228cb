#include "runtime/sim/fluid/fluid_collectives.h"

#include <algorithm>

#include "runtime/sim/stream.h"

namespace trigram::sim {

FluidCollectives::FluidCollectives(World& world, bool always)
    : world_(world), always_(always), untimed_(world), flows_(world) {}

/// The decision is made when the first rank arrives. Flows and messages may give different times in
/// these cases:
/// - With more than two streams per rank, streams may share links.
/// - Disjoint groups may share links. Until the first collective of this group is complete, such
///   groups may exist without being known.
/// - In a chain some ranks finish before others arrive.
/// - In an h-relation messages may delay each other. If ranks arrive at different times, a rank may
///   begin the next h-relation, whose messages share links with the ring before it.
bool FluidCollectives::uses_messages(RankSet& rank_set, const CollectivePattern& collective) {
  if (always_) return false;
  rank_set.has_h_relations |= collective.shape == CollectivePattern::h_relation;
  if (flows_.shared_count() > 0 || world_.streams_per_rank() > 2 || rank_set.has_disjoint_sets ||
      rank_set.has_h_relations || collective.shape != CollectivePattern::ring)
    return true;
  const bool all = rank_set.members.size() == static_cast<std::size_t>(world_.layout().ranks());
  if (!all && rank_set.complete == 0) return true;
  return !coupled(rank_set, collective.shape, collective.traffic, 0).exact();
}

std::shared_ptr<FluidCollectives::PendingCollective> FluidCollectives::new_pending(
    RankSet& rank_set, const CollectivePattern& collective) {
  auto pending = std::make_shared<PendingCollective>(PendingCollective{
      rank_set, collective.shape, collective.traffic, uses_messages(rank_set, collective)});
  if (pending->by_messages) return pending;
  const std::size_t size = rank_set.members.size();
  pending->members = std::make_shared<std::vector<Member>>(size);
  if (!collective.part_nbytes) return pending;
  const auto parts = collective.shape == CollectivePattern::ring
                         ? size
                         : static_cast<std::size_t>(collective.phases[0].rounds);
  for (std::size_t i = 0; i < parts; ++i)
    pending->pipeline.nbytes.push_back(static_cast<double>(collective.part_nbytes(i)));
  pending->pipeline.first_part = collective.first_part;
  pending->pipeline.traffic = collective.traffic;
  return pending;
}

/// Every rank joins its collectives in the same order, but a rank may join many of them before
/// another rank joins the first.
std::shared_ptr<FluidCollectives::PendingCollective> FluidCollectives::join_next(
    RankSet& rank_set, std::size_t place, const CollectivePattern& collective) {
  const std::size_t number = rank_set.joined[place]++ - rank_set.complete;
  if (number == rank_set.pending.size())
    rank_set.pending.push_back(new_pending(rank_set, collective));
  std::shared_ptr<PendingCollective> pending = rank_set.pending[number];
  if (++pending->arrived == rank_set.members.size()) {
    rank_set.pending.pop_front();
    ++rank_set.complete;
  }
  return pending;
}

bool FluidCollectives::run(SimStream& stream, const CollectivePattern& collective,
                           const std::function<void()>& messages) {
  const DeferredTime when = stream.current_time();
  // The decision whether flows agree with messages must be made in the order of time, and messages
  // must carry the present values. Both need a settled stream.
  if (!always_ || collective.valued) stream.settle();
  RankSet& rank_set = this->rank_set(stream, collective.members);
  const std::size_t place = rank_set.place.at(stream.rank());
  const std::shared_ptr<PendingCollective> pending = join_next(rank_set, place, collective);
  const bool last = pending->arrived == rank_set.members.size();
  if (pending->by_messages) {
    by_messages_ += last;
    stream.settle();
    return false;
  }
  arrive(*pending, place, collective, when);
  if (last) schedule_flow(pending);
  if (collective.valued) {
    stream.set_untimed(true);
    messages();
    stream.set_untimed(false);
  }
  SimEvent& end = (*pending->members)[pending->relation ? 0 : place].end;
  stream.continue_from(DeferredTime::after({{pending->members, &end}}, 0));
  return true;
}

void FluidCollectives::arrive(PendingCollective& pending, std::size_t place,
                              const CollectivePattern& collective, const DeferredTime& when) const {
  const std::size_t size = pending.rank_set.members.size();
  (*pending.members)[place].arrival = when;
  if (pending.shape == CollectivePattern::h_relation) {
    if (!pending.relation)
      pending.relation =
          std::make_unique<HRelation>(world_.network(), world_.cluster(), pending.traffic);
    return pending.relation->add(pending.rank_set.members[place], collective.sent);
  }
  // The last rank of a chain sends nothing. The next rank around the circle is the first rank of
  // the chain.
  if (collective.shape == CollectivePattern::chain && collective.sent.empty())
    pending.first = (place + 1) % size;
  const Accelerator& accelerator = world_.cluster().accelerator;
  const auto set = [&](std::vector<double>& by_place, const Cost& cost) {
    if (cost.is_noop()) return;
    by_place.resize(size);
    by_place[place] = accelerator.seconds(cost);
  };
  for (std::size_t i = 0; i < collective.phases.size(); ++i) {
    auto& phase = pending.pipeline.phases[i];
    phase.messages = collective.phases[i].rounds;
    set(phase.work_s, collective.phases[i].per_round);
    set(phase.after_s, collective.phases[i].at_end);
  }
}

/// Called when all ranks have arrived. Starts the flow at the time of the last arrival, once that
/// time is known.
void FluidCollectives::schedule_flow(const std::shared_ptr<PendingCollective>& pending) {
  for (; pending->known < pending->members->size(); ++pending->known) {
    const DeferredTime& when = (*pending->members)[pending->known].arrival;
    if (!when.known()) return when.next().when_reached([this, pending] { schedule_flow(pending); });
    pending->start_s = std::max(pending->start_s, when.date_s());
  }
  if (pending->start_s <= Simulation::clock()) start_flow(pending);
  else world_.simulation().at(pending->start_s, [this, pending] { start_flow(pending); });
}

void FluidCollectives::start_flow(const std::shared_ptr<PendingCollective>& pending) {
  ++fluid_;
  const CoupledRounds& pattern =
      coupled(pending->rank_set, pending->shape, pending->traffic, pending->first);
  if (pending->relation) return start_relation_flow(pending, pattern);
  start_pipeline_flow(pending, pattern, ends_s(*pending, pattern));
}

/// The times at which the ranks finish, by place, if nothing else uses the links.
std::vector<double> FluidCollectives::ends_s(PendingCollective& pending,
                                             const CoupledRounds& pattern) {
  Pipeline& pipeline = pending.pipeline;
  for (const Member& member : *pending.members)
    pipeline.starts_s.push_back(member.arrival.date_s());
  const auto first = static_cast<std::ptrdiff_t>(pending.first);
  const auto from_first = [first](std::vector<double>& by_place) {
    if (!by_place.empty()) std::rotate(by_place.begin(), by_place.begin() + first, by_place.end());
  };
  from_first(pipeline.starts_s);
  for (auto& phase : pipeline.phases) {
    from_first(phase.work_s);
    from_first(phase.after_s);
  }
  const Transport& transport = world_.cluster().transport;
  Connections& connections = this->connections(pending, pattern);
  std::vector<double> ends =
      pending.shape == CollectivePattern::ring
          ? ring_ends_s(pipeline, pattern.edges(), transport, connections.by_edge)
          : chain_ends_s(pipeline, pattern.edges(), transport, connections.by_edge);
  for (std::size_t i = 0; i < connections.windows.size(); ++i)
    if (connections.windows[i] && !connections.by_edge[i].window)
      connections.windows[i]->sent_until(connections.by_edge[i].free_s);
  std::rotate(ends.begin(), ends.end() - first, ends.end());
  return ends;
}

FluidCollectives::Connections& FluidCollectives::connections(PendingCollective& pending,
                                                             const CoupledRounds& pattern) {
  Connections& connections = pending.rank_set.connections[&pattern];
  connections.by_edge.resize(pattern.edges().size());
  if (world_.cluster().transport.tcp.has_window()) open_windows(pending, pattern, connections);
  return connections;
}

/// Simulates TCP windows in a collective if any of them limits the rate or is not fully open yet.
void FluidCollectives::open_windows(PendingCollective& pending, const CoupledRounds& pattern,
                                    Connections& connections) {
  const Transport& transport = world_.cluster().transport;
  const RankSet& rank_set = pending.rank_set;
  const std::size_t size = rank_set.members.size();
  auto& windows = connections.windows;
  for (std::size_t i = windows.size(); i < pattern.edges().size(); ++i) {
    const int source = rank_set.members[(pending.first + i) % size];
    const int destination = rank_set.members[(pending.first + i + 1) % size];
    windows.push_back(pattern.edges()[i].between_nodes
                          ? &world_.window(rank_set.stream, source, destination, false)
                          : nullptr);
  }
  const auto streams = static_cast<double>(transport.total_streams(pending.traffic));
  bool opening = false;
  for (std::size_t i = 0; i < windows.size() && !opening; ++i)
    opening = windows[i] && !windows[i]->is_open(transport.tcp,
                                                 {.streams = streams,
                                                  .rate_Bps = 1 / pattern.edges()[i].per_byte_s,
                                                  .round_trip_s = 2 * pattern.edges()[i].latency_s},
                                                 pending.start_s);
  for (std::size_t i = 0; i < windows.size(); ++i)
    connections.by_edge[i].window = opening ? windows[i] : nullptr;
}

/// If windows limit the whole collective, returns a flow at the sustained rate, which leaves the
/// rest of the links' bandwidth to other traffic.
const CoupledRounds& FluidCollectives::sustained_pattern(RankSet& rank_set,
                                                         const CoupledRounds& pattern, double bytes,
                                                         double alone_s) {
  const double sustained_Bps = pattern.sustained_bandwidth();
  if (sustained_Bps == pattern.bandwidth() || alone_s < bytes / sustained_Bps) return pattern;
  const auto found = rank_set.sustained.find(&pattern);
  if (found != rank_set.sustained.end()) return found->second;
  return rank_set.sustained.emplace(&pattern, pattern.sustained()).first->second;
}

/// For rings and chains: starts the flow, and schedules the time at which each rank finishes. If
/// the flow ends late because it shared links, the ranks that have not finished yet finish later by
/// the same amount.
void FluidCollectives::start_pipeline_flow(const std::shared_ptr<PendingCollective>& pending,
                                           const CoupledRounds& pattern,
                                           std::vector<double> ends_s) {
  const double last_s =
      std::max(*std::max_element(ends_s.begin(), ends_s.end()), Simulation::clock());
  auto& connections = pending->rank_set.connections[&pattern].by_edge;
  double bytes = 0;
  for (const double nbytes : pending->pipeline.nbytes) bytes += nbytes;
  if (pending->shape == CollectivePattern::ring) {
    const int rounds = pending->pipeline.phases[0].messages + pending->pipeline.phases[1].messages;
    bytes *= static_cast<double>(rounds) / static_cast<double>(pending->pipeline.nbytes.size());
  }
  const double alone_s = last_s - pending->start_s;
  const auto flow = flows_.start(sustained_pattern(pending->rank_set, pattern, bytes, alone_s),
                                 bytes, pending->start_s, alone_s,
                                 [pending, ends_s, last_s, &connections](double date_s) {
                                   const double later_s = date_s - last_s;
                                   if (later_s > 0)
                                     for (auto& connection : connections) connection.delay(later_s);
                                   for (std::size_t i = 0; i < ends_s.size(); ++i)
                                     if (SimEvent& end = (*pending->members)[i].end; !end.reached())
                                       end.reach(ends_s[i] + later_s);
                                 });
  std::map<double, std::vector<std::size_t>> earlier;
  for (std::size_t i = 0; i < ends_s.size(); ++i)
    if (ends_s[i] < last_s) earlier[std::max(ends_s[i], Simulation::clock())].push_back(i);
  for (auto& [date_s, places] : earlier)
    world_.simulation().at(date_s, [pending, flow, date_s = date_s, places = std::move(places)] {
      if (!flow->alone) return;
      for (const std::size_t i : places) (*pending->members)[i].end.reach(date_s);
    });
}

/// For an h-relation: starts a flow at whose end all ranks finish. Connections and links inside
/// nodes are not part of the flow; if their messages take longer, the ranks finish later.
void FluidCollectives::start_relation_flow(const std::shared_ptr<PendingCollective>& pending,
                                           const CoupledRounds& pattern) {
  if (world_.cluster().bandwidth_jitter > 0) ++between_unequal_nics_;
  const HRelation& relation = *pending->relation;
  pending->relation_flow = relation.flow(pattern);
  const auto& [links, bytes] = *pending->relation_flow;
  const double before_s =
      relation.overhead_s() +
      world_.network().latency(pattern.slowest_source(), pattern.slowest_destination());
  const auto window_of = [&](int source, int destination, bool for_answers) -> TcpWindow& {
    return world_.window(pending->rank_set.stream, source, destination, for_answers);
  };
  const double least_s =
      pending->start_s + before_s + relation.min_duration_s(pending->start_s, window_of);
  flows_.start(links, bytes, pending->start_s, before_s + bytes / links.bandwidth(),
               [pending, least_s](double date_s) {
                 pending->members->front().end.reach(std::max(date_s, least_s));
               });
}

}  // namespace trigram::sim
