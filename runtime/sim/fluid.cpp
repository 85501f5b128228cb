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

int rounds_of(const Rounds& rounds) { return rounds.phases[0].rounds + rounds.phases[1].rounds; }

}  // namespace

FluidCollectives::FluidCollectives(World& world, bool always)
    : world_(world), always_(always), untimed_(world), flowing_(world.network().links().size()) {}

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
  return *alike.emplace_back(std::move(circle));
}

const CoupledRounds& FluidCollectives::coupled(Circle& circle, Rounds::Pattern pattern,
                                               std::size_t first) {
  const std::pair key(pattern, first);
  auto found = circle.patterns.find(key);
  if (found == circle.patterns.end())
    found = circle.patterns
                .emplace(key, CoupledRounds(world_.network(), world_.cluster(), pattern,
                                            circle.members, first))
                .first;
  return found->second;
}

/// Decided when the first rank comes. Where ranks have more than two streams, one may use the links
/// of another; and in a chain not everybody waits for everybody.
bool FluidCollectives::goes_by_messages(Circle& circle, Rounds::Pattern pattern) {
  if (always_) return false;
  if (conflicts_ || world_.streams_per_rank() > 2 || pattern == Rounds::chain) return true;
  return !coupled(circle, pattern, 0).exact();
}

bool FluidCollectives::make(SimStream& stream, const Rounds& rounds,
                            const std::function<void()>& messages) {
  stream.settle();
  Circle& circle = this->circle(stream, rounds.members);
  if (!circle.meeting) {
    circle.meeting = std::make_shared<Meeting>();
    circle.meeting->by_messages = goes_by_messages(circle, rounds.pattern);
  }
  const std::shared_ptr<Meeting> meeting = circle.meeting;
  const bool last = ++meeting->arrived == circle.members.size();
  if (last) circle.meeting.reset();
  if (meeting->by_messages) {
    counts_.by_messages += last;
    return false;
  }
  arrive(*meeting, circle, stream, rounds);
  if (last) {
    flow(*meeting, coupled(circle, rounds.pattern, meeting->first), stream, rounds, messages);
    return true;
  }
  const Wait wait{.kind = Wait::collective};
  meeting->waiting.push_back(&stream);
  stream.block(wait, [&] { return meeting->state != Meeting::gathering; });
  if (meeting->valued) {
    deliver(stream, messages);
    meeting->waiting.push_back(&stream);
  }
  stream.block(wait, [&] { return meeting->state == Meeting::over; });
  return true;
}

void FluidCollectives::arrive(Meeting& meeting, const Circle& circle, const SimStream& stream,
                              const Rounds& rounds) const {
  const std::size_t place = circle.place.at(stream.rank()), size = circle.members.size();
  meeting.valued = meeting.valued || rounds.valued;
  meeting.longest = std::max(meeting.longest, static_cast<double>(rounds.longest));
  // The end of a chain sends to nobody: after it, around the circle, is the beginning.
  if (rounds.pattern == Rounds::chain && rounds.sent.empty()) meeting.first = (place + 1) % size;
  const Accelerator& accelerator = world_.cluster().accelerator;
  const auto seconds = [&](const Cost& cost) {
    return cost.nothing() ? 0 : accelerator.seconds(cost);
  };
  for (std::size_t i = 0; i < rounds.phases.size(); ++i) {
    const double each_s = seconds(rounds.phases[i].each);
    auto& work = meeting.work[i];
    if (each_s > 0) {
      work.each_s.resize(size);
      work.each_s[place] = each_s;
    }
    work.after_s = std::max(work.after_s, seconds(rounds.phases[i].after));
  }
}

/// By the last to come.
void FluidCollectives::flow(Meeting& meeting, const CoupledRounds& pattern, SimStream& stream,
                            const Rounds& rounds, const std::function<void()>& messages) {
  ++counts_.fluid;
  occupy(pattern);
  const double bytes = meeting.longest * rounds_of(rounds);
  double alone_s = 0;
  for (std::size_t i = 0; i < rounds.phases.size(); ++i)
    alone_s += pattern.seconds(rounds.phases[i].rounds, meeting.longest, meeting.work[i].each_s) +
               meeting.work[i].after_s;
  simgrid::s4u::CommPtr flow;
  double rest_s = alone_s;
  if (bytes > 0) {
    flow = world_.simulation().start_flow(pattern, bytes);
    rest_s -= world_.network().latency(pattern.slowest_source(), pattern.slowest_destination()) +
              bytes / pattern.bandwidth();
  }
  if (meeting.valued) {
    advance(meeting, Meeting::delivering);
    deliver(stream, messages);
  }
  if (flow) {
    stream.set_wait({.kind = Wait::collective});
    flow->wait();
    world_.halt_if_ended();
    stream.set_wait({});
  }
  stream.sleep_for(std::max(rest_s, 0.0));
  leave(pattern);
  advance(meeting, Meeting::over);
  world_.halt_if_ended();
}

void FluidCollectives::deliver(SimStream& stream, const std::function<void()>& messages) {
  stream.set_untimed(true);
  messages();
  stream.set_untimed(false);
}

void FluidCollectives::advance(Meeting& meeting, Meeting::State state) {
  meeting.state = state;
  const std::vector<SimStream*> waiting = std::exchange(meeting.waiting, {});
  Simulation::in_one_switch([&] {
    for (SimStream* stream : waiting) stream->wake();
  });
}

void FluidCollectives::shared() {
  ++counts_.shared;
  conflicts_ = true;
}

void FluidCollectives::occupy(const CoupledRounds& pattern) {
  bool alone = batches_ == 0;
  for (const LinkId link : pattern.links())
    alone = flowing_[static_cast<std::size_t>(link)] == 0 && alone;
  if (!alone) shared();
  for (const LinkId link : pattern.links()) ++flowing_[static_cast<std::size_t>(link)];
  ++flows_;
}

void FluidCollectives::leave(const CoupledRounds& pattern) {
  for (const LinkId link : pattern.links()) --flowing_[static_cast<std::size_t>(link)];
  --flows_;
}

void FluidCollectives::batch_starts(int rank, std::span<const Transfer> batch) {
  ++batches_;
  if (flows_ == 0) return;
  std::vector<LinkId> route;
  for (const Transfer& t : batch) {
    if (t.kind != Transfer::send || t.peer == rank) continue;
    world_.network().route(rank, t.peer, route);
  }
  if (std::any_of(route.begin(), route.end(),
                  [&](LinkId link) { return flowing_[static_cast<std::size_t>(link)] > 0; }))
    shared();
}

}  // namespace trigram::sim
