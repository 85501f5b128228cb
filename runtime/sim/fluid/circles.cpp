// The sets of ranks that run collectives together, and the routes of their messages.
#include <algorithm>
#include <numeric>

#include "runtime/sim/fluid/fluid_collectives.h"
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

/// Disjoint circles, such as groups of ranks, may use the same link at the same time.
void FluidCollectives::find_rivals(Circle& circle) {
  for (auto& [hash, alike] : circles_)
    for (const auto& other : alike) {
      if (other->stream != circle.stream || (circle.has_rivals && other->has_rivals)) continue;
      if (std::none_of(other->members.begin(), other->members.end(),
                       [&](int member) { return circle.place.contains(member); }))
        circle.has_rivals = other->has_rivals = true;
    }
}

const CoupledRounds& FluidCollectives::coupled(Circle& circle, CollectivePattern::Shape shape,
                                               TrafficClass traffic, std::size_t first) {
  const std::tuple key(shape, traffic, first);
  auto found = circle.patterns.find(key);
  if (found == circle.patterns.end())
    found = circle.patterns
                .emplace(key, CoupledRounds(world_.network(), world_.cluster(), shape, traffic,
                                            circle.members, first))
                .first;
  return found->second;
}

}  // namespace trigram::sim
