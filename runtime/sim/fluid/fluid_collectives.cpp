#include "runtime/sim/fluid/fluid_collectives.h"

#include <algorithm>

#include "core/check.h"
#include "runtime/sim/stream.h"

namespace trigram::sim {

FluidCollectives::FluidCollectives(World& world, bool always)
    : world_(world), always_(always), untimed_(world), flows_(world) {}

/// Decided when the first rank arrives. Flows may differ from messages in these cases: with more
/// than two streams per rank, streams may share links; so may disjoint groups, of which others may
/// exist before the first collective of this group is complete; in a chain some ranks finish before
/// others arrive; and in an h-relation messages may delay each other.
bool FluidCollectives::goes_by_messages(Circle& circle, const CollectivePattern& collective) {
  if (always_) return false;
  if (flows_.meetings() > 0 || world_.streams_per_rank() > 2 || circle.has_rivals ||
      collective.shape != CollectivePattern::ring)
    return true;
  const bool all = circle.members.size() == static_cast<std::size_t>(world_.layout().ranks());
  if (!all && circle.over == 0) return true;
  return !coupled(circle, collective.shape, collective.traffic, 0).exact();
}

std::shared_ptr<FluidCollectives::Meeting> FluidCollectives::new_meeting(
    Circle& circle, const CollectivePattern& collective) {
  auto meeting = std::make_shared<Meeting>(
      Meeting{circle, collective.shape, collective.traffic, goes_by_messages(circle, collective)});
  if (meeting->by_messages) return meeting;
  const std::size_t size = circle.members.size();
  meeting->members = std::make_shared<std::vector<Member>>(size);
  if (!collective.part_nbytes) return meeting;
  const auto parts = collective.shape == CollectivePattern::ring
                         ? size
                         : static_cast<std::size_t>(collective.phases[0].rounds);
  for (std::size_t i = 0; i < parts; ++i)
    meeting->pipeline.nbytes.push_back(static_cast<double>(collective.part_nbytes(i)));
  meeting->pipeline.first_part = collective.first_part;
  meeting->pipeline.traffic = collective.traffic;
  return meeting;
}

/// Ranks join their meetings in the same order, but some join many before others join the first.
std::shared_ptr<FluidCollectives::Meeting> FluidCollectives::next_meeting(
    Circle& circle, std::size_t place, const CollectivePattern& collective) {
  const std::size_t number = circle.attended[place]++ - circle.over;
  if (number == circle.meetings.size()) circle.meetings.push_back(new_meeting(circle, collective));
  std::shared_ptr<Meeting> meeting = circle.meetings[number];
  if (++meeting->arrived == circle.members.size()) {
    circle.meetings.pop_front();
    ++circle.over;
  }
  return meeting;
}

bool FluidCollectives::make(SimStream& stream, const CollectivePattern& collective,
                            const std::function<void()>& messages) {
  const DeferredTime when = stream.instant();
  // Whether flows agree with messages must be decided in the order of time, and values must be
  // those of now.
  if (!always_ || collective.valued) stream.settle();
  Circle& circle = this->circle(stream, collective.members);
  const std::size_t place = circle.place.at(stream.rank());
  const std::shared_ptr<Meeting> meeting = next_meeting(circle, place, collective);
  const bool last = meeting->arrived == circle.members.size();
  if (meeting->by_messages) {
    by_messages_ += last;
    stream.settle();
    return false;
  }
  arrive(*meeting, place, collective, when);
  if (last) start(meeting);
  if (collective.valued) {
    stream.set_untimed(true);
    messages();
    stream.set_untimed(false);
  }
  SimEvent& end = (*meeting->members)[meeting->relation ? 0 : place].end;
  stream.go_on_from(DeferredTime::after({{meeting->members, &end}}, 0));
  return true;
}

void FluidCollectives::arrive(Meeting& meeting, std::size_t place,
                              const CollectivePattern& collective, const DeferredTime& when) const {
  const std::size_t size = meeting.circle.members.size();
  (*meeting.members)[place].come = when;
  if (meeting.shape == CollectivePattern::h_relation) {
    if (!meeting.relation)
      meeting.relation =
          std::make_unique<HRelation>(world_.network(), world_.cluster(), meeting.traffic);
    return meeting.relation->add(meeting.circle.members[place], collective.sent);
  }
  // The last rank of a chain sends to nobody; the rank after it, around the circle, is the first.
  if (collective.shape == CollectivePattern::chain && collective.sent.empty())
    meeting.first = (place + 1) % size;
  const Accelerator& accelerator = world_.cluster().accelerator;
  const auto set = [&](std::vector<double>& by_place, const Cost& cost) {
    if (cost.nothing()) return;
    by_place.resize(size);
    by_place[place] = accelerator.seconds(cost);
  };
  for (std::size_t i = 0; i < collective.phases.size(); ++i) {
    auto& phase = meeting.pipeline.phases[i];
    phase.messages = collective.phases[i].rounds;
    set(phase.work_s, collective.phases[i].each);
    set(phase.after_s, collective.phases[i].after);
  }
}

/// Called when all ranks have arrived. Starts the flow at the last arrival, once its date is known.
void FluidCollectives::start(const std::shared_ptr<Meeting>& meeting) {
  for (; meeting->known < meeting->members->size(); ++meeting->known) {
    const DeferredTime& when = (*meeting->members)[meeting->known].come;
    if (!when.known()) return when.next().when_reached([this, meeting] { start(meeting); });
    meeting->start_s = std::max(meeting->start_s, when.date_s());
  }
  if (meeting->start_s <= Simulation::clock()) flow(meeting);
  else world_.simulation().at(meeting->start_s, [this, meeting] { flow(meeting); });
}

void FluidCollectives::flow(const std::shared_ptr<Meeting>& meeting) {
  ++fluid_;
  const CoupledRounds& pattern =
      coupled(meeting->circle, meeting->shape, meeting->traffic, meeting->first);
  if (meeting->relation) return flow_at_once(meeting, pattern);
  pass_on(meeting, pattern, ends_s(*meeting, pattern));
}

/// When each rank finishes, by place, if nothing else uses the links.
std::vector<double> FluidCollectives::ends_s(Meeting& meeting, const CoupledRounds& pattern) {
  Pipeline& pipeline = meeting.pipeline;
  for (const Member& member : *meeting.members) pipeline.starts_s.push_back(member.come.date_s());
  const auto first = static_cast<std::ptrdiff_t>(meeting.first);
  const auto from_first = [first](std::vector<double>& by_place) {
    if (!by_place.empty()) std::rotate(by_place.begin(), by_place.begin() + first, by_place.end());
  };
  from_first(pipeline.starts_s);
  for (auto& phase : pipeline.phases) {
    from_first(phase.work_s);
    from_first(phase.after_s);
  }
  const Transport& transport = world_.cluster().transport;
  Connections& connections = this->connections(meeting, pattern);
  std::vector<double> ends =
      meeting.shape == CollectivePattern::ring
          ? ring_ends_s(pipeline, pattern.edges(), transport, connections.all)
          : chain_ends_s(pipeline, pattern.edges(), transport, connections.all);
  for (std::size_t i = 0; i < connections.windows.size(); ++i)
    if (connections.windows[i] && !connections.all[i].window)
      connections.windows[i]->sent(connections.all[i].free_s);
  std::rotate(ends.begin(), ends.end() - first, ends.end());
  return ends;
}

FluidCollectives::Connections& FluidCollectives::connections(Meeting& meeting,
                                                             const CoupledRounds& pattern) {
  Connections& connections = meeting.circle.connections[&pattern];
  connections.all.resize(pattern.edges().size());
  if (world_.cluster().transport.tcp.exists()) open_windows(meeting, pattern, connections);
  return connections;
}

/// Simulates windows in a meeting in which any window binds or is not fully open yet.
void FluidCollectives::open_windows(Meeting& meeting, const CoupledRounds& pattern,
                                    Connections& connections) {
  const Transport& transport = world_.cluster().transport;
  const Circle& circle = meeting.circle;
  const std::size_t size = circle.members.size();
  auto& windows = connections.windows;
  for (std::size_t i = windows.size(); i < pattern.edges().size(); ++i) {
    const int source = circle.members[(meeting.first + i) % size];
    const int destination = circle.members[(meeting.first + i + 1) % size];
    windows.push_back(pattern.edges()[i].between_nodes
                          ? &world_.window(circle.stream, source, destination, false)
                          : nullptr);
  }
  const auto streams = static_cast<double>(transport.all_streams(meeting.traffic));
  bool opening = false;
  for (std::size_t i = 0; i < windows.size() && !opening; ++i)
    opening = windows[i] && !windows[i]->open(transport.tcp,
                                              {.streams = streams,
                                               .rate_Bps = 1 / pattern.edges()[i].per_byte_s,
                                               .round_trip_s = 2 * pattern.edges()[i].latency_s},
                                              meeting.start_s);
  for (std::size_t i = 0; i < windows.size(); ++i)
    connections.all[i].window = opening ? windows[i] : nullptr;
}

/// If windows limit the whole collective, returns a flow at the sustained rate, which leaves the
/// rest of the links' bandwidth to other traffic.
const CoupledRounds& FluidCollectives::paced(Circle& circle, const CoupledRounds& pattern,
                                             double bytes, double alone_s) {
  const double sustained_Bps = pattern.sustained_bandwidth();
  if (sustained_Bps == pattern.bandwidth() || alone_s < bytes / sustained_Bps) return pattern;
  const auto found = circle.sustained.find(&pattern);
  if (found != circle.sustained.end()) return found->second;
  return circle.sustained.emplace(&pattern, pattern.sustained()).first->second;
}

/// Ranks finish one after another. If the flow ends late because it shared links, the ranks that
/// have not finished yet finish later by the same amount.
void FluidCollectives::pass_on(const std::shared_ptr<Meeting>& meeting,
                               const CoupledRounds& pattern, std::vector<double> ends_s) {
  const double last_s =
      std::max(*std::max_element(ends_s.begin(), ends_s.end()), Simulation::clock());
  auto& connections = meeting->circle.connections[&pattern].all;
  double bytes = 0;
  for (std::size_t j = 0; j < meeting->pipeline.nbytes.size(); ++j)
    bytes += meeting->pipeline.nbytes[j];
  if (meeting->shape == CollectivePattern::ring) {
    const int rounds = meeting->pipeline.phases[0].messages + meeting->pipeline.phases[1].messages;
    bytes *= static_cast<double>(rounds) / static_cast<double>(meeting->pipeline.nbytes.size());
  }
  const double alone_s = last_s - meeting->start_s;
  const auto flow =
      flows_.start(paced(meeting->circle, pattern, bytes, alone_s), bytes, meeting->start_s,
                   alone_s, [meeting, ends_s, last_s, &connections](double date_s) {
                     const double later_s = date_s - last_s;
                     if (later_s > 0)
                       for (auto& connection : connections) connection.delay(later_s);
                     for (std::size_t i = 0; i < ends_s.size(); ++i)
                       if (SimEvent& end = (*meeting->members)[i].end; !end.reached())
                         end.reach(ends_s[i] + later_s);
                   });
  std::map<double, std::vector<std::size_t>> sooner;
  for (std::size_t i = 0; i < ends_s.size(); ++i)
    if (ends_s[i] < last_s) sooner[std::max(ends_s[i], Simulation::clock())].push_back(i);
  for (auto& [date_s, places] : sooner)
    world_.simulation().at(date_s, [meeting, flow, date_s = date_s, places = std::move(places)] {
      if (!flow->alone) return;
      for (const std::size_t i : places) (*meeting->members)[i].end.reach(date_s);
    });
}

/// Connections and links inside nodes are not part of the flow and may take longer than it.
void FluidCollectives::flow_at_once(const std::shared_ptr<Meeting>& meeting,
                                    const CoupledRounds& pattern) {
  const HRelation& relation = *meeting->relation;
  meeting->at_once = relation.flow(pattern);
  const auto& [links, bytes] = *meeting->at_once;
  const double before_s =
      relation.overhead_s() +
      world_.network().latency(pattern.slowest_source(), pattern.slowest_destination());
  const auto window_of = [&](int source, int destination, bool answers) -> TcpWindow& {
    return world_.window(meeting->circle.stream, source, destination, answers);
  };
  const double least_s =
      meeting->start_s + before_s + relation.least_s(meeting->start_s, window_of);
  flows_.start(links, bytes, meeting->start_s, before_s + bytes / links.bandwidth(),
               [meeting, least_s](double date_s) {
                 meeting->members->front().end.reach(std::max(date_s, least_s));
               });
}

}  // namespace trigram::sim
