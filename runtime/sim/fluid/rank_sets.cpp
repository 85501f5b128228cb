// The sets of ranks that run collectives together, and the routes of their messages.
#include <algorithm>
#include <numeric>

#include "runtime/sim/fluid/fluid_collectives.h"
#include "runtime/sim/stream.h"

namespace trigram::sim {
namespace {

/// The hash function FNV-1a.
std::uint64_t hash_of(StreamId stream, std::span<const int> members) {
  std::uint64_t hash = 14695981039346656037u ^ stream;
  for (const int member : members)
    hash = (hash ^ static_cast<std::uint64_t>(member)) * 1099511628211u;
  return hash;
}

}  // namespace

FluidCollectives::RankSet& FluidCollectives::rank_set(const SimStream& stream,
                                                      std::span<const int> members) {
  auto& candidates = rank_sets_[hash_of(stream.id(), members)];
  const bool all = members.empty();
  for (const auto& known : candidates)
    if (known->stream == stream.id() &&
        (all ? known->members.size() == static_cast<std::size_t>(world_.layout().ranks())
             : std::ranges::equal(members, known->members)))
      return *known;
  auto rank_set = std::make_unique<RankSet>();
  rank_set->stream = stream.id();
  rank_set->members.assign(members.begin(), members.end());
  if (all) {
    rank_set->members.resize(static_cast<std::size_t>(world_.layout().ranks()));
    std::iota(rank_set->members.begin(), rank_set->members.end(), 0);
  }
  for (std::size_t i = 0; i < rank_set->members.size(); ++i)
    rank_set->place[rank_set->members[i]] = i;
  rank_set->joined.resize(rank_set->members.size());
  find_disjoint_sets(*rank_set);
  return *candidates.emplace_back(std::move(rank_set));
}

/// Disjoint sets, such as groups of ranks, may use the same link at the same time.
void FluidCollectives::find_disjoint_sets(RankSet& rank_set) {
  for (auto& [hash, sets] : rank_sets_)
    for (const auto& other : sets) {
      if (other->stream != rank_set.stream ||
          (rank_set.has_disjoint_sets && other->has_disjoint_sets))
        continue;
      if (std::ranges::none_of(other->members,
                               [&](int member) { return rank_set.place.contains(member); }))
        rank_set.has_disjoint_sets = other->has_disjoint_sets = true;
    }
}

const CoupledRounds& FluidCollectives::coupled(RankSet& rank_set, CollectivePattern::Shape shape,
                                               TrafficClass traffic, std::size_t first) {
  const std::tuple key(shape, traffic, first);
  auto found = rank_set.patterns.find(key);
  if (found == rank_set.patterns.end())
    found = rank_set.patterns
                .emplace(key, CoupledRounds(world_.network(), world_.cluster(), shape, traffic,
                                            rank_set.members, first))
                .first;
  return found->second;
}

}  // namespace trigram::sim
