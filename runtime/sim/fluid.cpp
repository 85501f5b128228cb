#include "runtime/sim/fluid.h"

#include <algorithm>
#include <numeric>

#include "core/check.h"
#include "runtime/sim/stream.h"

namespace trigram::sim {
namespace {

/// FNV-1a.
std::uint64_t hash_of(StreamId stream, std::span<const int> members) {
  std::uint64_t hash = 14695981039346656037u ^ stream;
  for (const int member : members)
    hash = (hash ^ static_cast<std::uint64_t>(member)) * 1099511628211u;
  return hash;
}

}  // namespace

FluidCollectives::FluidCollectives(World& world, bool always)
    : world_(world), always_(always), untimed_(world), flows_(world) {}

FluidCollectives::Circle& FluidCollectives::circle(const SimStream& stream,
                                                   std::span<const int> members) {
  auto& alike = circles_[hash_of(stream.id(), members)];
  const bool all = members.empty();
  for (const auto& known : alike)
    if (known->stream == stream.id() &&
        (all ? known->members.size() == static_cast<std::size_t>(world_.layout().ranks())
             : std::equal(members.begin(), members.end(), known->members.begin(),
                          known->members.end())))
      return *known;
  auto circle = std::make_unique<Circle>();
  circle->stream = stream.id();
  circle->members.assign(members.begin(), members.end());
  if (all) {
    circle->members.resize(static_cast<std::size_t>(world_.layout().ranks()));
    std::iota(circle->members.begin(), circle->members.end(), 0);
  }
  for (std::size_t i = 0; i < circle->members.size(); ++i) circle->place[circle->members[i]] = i;
  circle->attended.resize(circle->members.size());
  find_rivals(*circle);
  return *alike.emplace_back(std::move(circle));
}

/// Circles without a common member, such as groups, may use one link at the same time.
void FluidCollectives::find_rivals(Circle& circle) {
  for (auto& [hash, alike] : circles_)
    for (const auto& other : alike) {
      if (other->stream != circle.stream || (circle.has_rivals && other->has_rivals)) continue;
      if (std::none_of(other->members.begin(), other->members.end(),
                       [&](int member) { return circle.place.contains(member); }))
        circle.has_rivals = other->has_rivals = true;
    }
}

const CoupledRounds& FluidCollectives::coupled(Circle& circle, Rounds::Pattern pattern,
                                               Pattern traffic, std::size_t first) {
  const std::tuple key(pattern, traffic, first);
  auto found = circle.patterns.find(key);
  if (found == circle.patterns.end())
    found = circle.patterns
                .emplace(key, CoupledRounds(world_.network(), world_.cluster(), pattern, traffic,
                                            circle.members, first))
                .first;
  return found->second;
}

/// Decided when the first rank comes. Where ranks have more than two streams, one may use the links
/// of another, and so may groups, which may be some before the first of them has met; in a chain
/// not everybody waits for everybody, nor in an h-relation; and of unlike messages the long ones may
/// be through when the last rank comes.
bool FluidCollectives::goes_by_messages(Circle& circle, const Rounds& rounds) {
  if (always_) return false;
  if (flows_.meetings() > 0 || world_.streams_per_rank() > 2 || circle.has_rivals ||
      rounds.pattern == Rounds::chain || rounds.pattern == Rounds::h_relation)
    return true;
  const bool all = circle.members.size() == static_cast<std::size_t>(world_.layout().ranks());
  if (!all && circle.over == 0) return true;
  const CoupledRounds& pattern = coupled(circle, rounds.pattern, rounds.traffic, 0);
  return !pattern.exact() ||
         !pattern.alike(static_cast<double>(rounds.shortest), static_cast<double>(rounds.longest));
}

/// Ranks come to their meetings in one order, but some come to many before others come to the
/// first.
std::shared_ptr<FluidCollectives::Meeting> FluidCollectives::next_meeting(Circle& circle,
                                                                          std::size_t place,
                                                                          const Rounds& rounds) {
  const std::size_t number = circle.attended[place]++ - circle.over;
  if (number == circle.meetings.size())
    circle.meetings.push_back(std::make_shared<Meeting>(
        Meeting{circle, rounds.pattern, rounds.traffic, goes_by_messages(circle, rounds)}));
  std::shared_ptr<Meeting> meeting = circle.meetings[number];
  if (++meeting->arrived == circle.members.size()) {
    circle.meetings.pop_front();
    ++circle.over;
  }
  return meeting;
}

bool FluidCollectives::make(SimStream& stream, const Rounds& rounds,
                            const std::function<void()>& messages) {
  const Instant when = stream.instant();
  // Whether flows agree with messages is seen in the order of time; and values are as of now.
  if (!always_ || rounds.valued) stream.settle();
  Circle& circle = this->circle(stream, rounds.members);
  const std::size_t place = circle.place.at(stream.rank());
  const std::shared_ptr<Meeting> meeting = next_meeting(circle, place, rounds);
  const bool last = meeting->arrived == circle.members.size();
  if (meeting->by_messages) {
    by_messages_ += last;
    stream.settle();
    return false;
  }
  arrive(*meeting, place, rounds, when);
  if (last) start(meeting);
  if (rounds.valued) {
    stream.set_untimed(true);
    messages();
    stream.set_untimed(false);
  }
  stream.go_on_from(Instant::after(meeting->end, 0));
  return true;
}

void FluidCollectives::arrive(Meeting& meeting, std::size_t place, const Rounds& rounds,
                              const Instant& when) const {
  const std::size_t size = meeting.circle.members.size();
  if (when.known()) meeting.start_s = std::max(meeting.start_s, when.date_s());
  else if (meeting.not_known.empty() || meeting.not_known.back().milestone() != when.milestone())
    meeting.not_known.push_back(when);
  else meeting.not_known.back() = Instant::later(meeting.not_known.back(), when);
  if (meeting.pattern == Rounds::h_relation) {
    if (!meeting.relation)
      meeting.relation =
          std::make_unique<HRelation>(world_.network(), world_.cluster(), meeting.traffic);
    return meeting.relation->add(meeting.circle.members[place], rounds.sent);
  }
  meeting.longest = std::max(meeting.longest, static_cast<double>(rounds.longest));
  // The end of a chain sends to nobody: after it, around the circle, is the beginning.
  if (rounds.pattern == Rounds::chain && rounds.sent.empty()) meeting.first = (place + 1) % size;
  const Accelerator& accelerator = world_.cluster().accelerator;
  const auto seconds = [&](const Cost& cost) {
    return cost.nothing() ? 0 : accelerator.seconds(cost);
  };
  for (std::size_t i = 0; i < rounds.phases.size(); ++i) {
    auto& phase = meeting.phases[i];
    phase.rounds = rounds.phases[i].rounds;
    const double each_s = seconds(rounds.phases[i].each);
    if (each_s > 0) {
      phase.each_s.resize(size);
      phase.each_s[place] = each_s;
    }
    phase.after_s = std::max(phase.after_s, seconds(rounds.phases[i].after));
  }
}

/// All have come: as soon as it is known when, and at that date.
void FluidCollectives::start(const std::shared_ptr<Meeting>& meeting) {
  while (!meeting->not_known.empty()) {
    const Instant& latest = meeting->not_known.back();
    if (!latest.known()) return latest.next().when_reached([this, meeting] { start(meeting); });
    meeting->start_s = std::max(meeting->start_s, latest.date_s());
    meeting->not_known.pop_back();
  }
  if (meeting->start_s <= Simulation::clock()) flow(meeting);
  else world_.simulation().at(meeting->start_s, [this, meeting] { flow(meeting); });
}

void FluidCollectives::flow(const std::shared_ptr<Meeting>& meeting) {
  ++fluid_;
  const CoupledRounds& pattern =
      coupled(meeting->circle, meeting->pattern, meeting->traffic, meeting->first);
  if (meeting->relation) return flow_at_once(meeting, pattern);
  double bytes = 0, alone_s = 0;
  for (const auto& phase : meeting->phases) {
    bytes += meeting->longest * phase.rounds;
    alone_s += pattern.seconds(phase.rounds, meeting->longest, phase.each_s) + phase.after_s;
  }
  flows_.start(pattern, bytes, meeting->start_s, alone_s,
               [meeting](double date_s) { meeting->end->reach(date_s); });
}

/// What the flow does not pass, connections and links inside nodes, may take longer.
void FluidCollectives::flow_at_once(const std::shared_ptr<Meeting>& meeting,
                                    const CoupledRounds& pattern) {
  const HRelation& relation = *meeting->relation;
  meeting->at_once = relation.flow(pattern);
  const auto& [links, bytes] = *meeting->at_once;
  const double before_s =
      relation.overhead_s() +
      world_.network().latency(pattern.slowest_source(), pattern.slowest_destination());
  const double least_s = meeting->start_s + before_s + relation.least_s();
  flows_.start(
      links, bytes, meeting->start_s, before_s + bytes / links.bandwidth(),
      [meeting, least_s](double date_s) { meeting->end->reach(std::max(date_s, least_s)); });
}

}  // namespace trigram::sim
