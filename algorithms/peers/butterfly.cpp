#include "algorithms/peers/butterfly.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "algorithms/peers/peer_graph.h"
#include "algorithms/peers/registry.h"
#include "core/check.h"
#include "core/config/option_type.h"

namespace trigram {

std::vector<int> butterfly_group(int rank, int size, int group_size, long step) {
  const auto P = static_cast<unsigned>(size), S = static_cast<unsigned>(group_size);
  TRIGRAM_CHECK(std::has_single_bit(P) && std::has_single_bit(S) && S <= P,
                "a butterfly over {} ranks has no groups of {}", size, group_size);
  const int phases = std::countr_zero(P), group_phases = std::countr_zero(S);
  std::vector<int> masks;
  for (int k = 0; k < group_phases; ++k) masks.push_back(1 << ((step * group_phases + k) % phases));
  std::vector<int> members = {rank & ~std::accumulate(masks.begin(), masks.end(), 0)};
  for (const int mask : masks) {
    const std::vector<int> lower = members;
    for (const int member : lower) members.push_back(member | mask);
  }
  return members;
}

int butterfly_group_size(int wanted, int size) {
  return wanted > 0 ? wanted : 1 << (std::bit_width(static_cast<unsigned>(size)) / 2);
}

namespace {

int log2(int power) { return std::countr_zero(static_cast<unsigned>(power)); }
bool power_of_two(std::int64_t n) { return std::has_single_bit(static_cast<std::uint64_t>(n)); }

}  // namespace

void check_butterfly_groups(std::int64_t group_size, int ranks, const std::string& pointer) {
  if (!power_of_two(ranks))
    throw ConfigError(
        pointer, fmt::format("groups need a power of two as the number of workers, not {}", ranks));
  const std::int64_t S = group_size, least = ranks > 1 ? 2 : 1;
  if (S != 0 && (S < least || S > ranks || !power_of_two(S)))
    throw ConfigError(
        child(pointer, "group_size"),
        fmt::format("expected 0 or a power of two from {} to {} workers, not {}", least, ranks, S));
}

namespace {

struct ButterflyOptions {
  std::int64_t group = 0;
};

/// Disjoint groups of S ranks that change from step to step, with weights 1/S. If models change
/// only by these averages, they are all equal after ceil(log2 P / log2 S) steps.
class Butterfly final : public PeerGraph {
 public:
  explicit Butterfly(const ButterflyOptions& options) : group_(static_cast<int>(options.group)) {}
  Peers peers(int rank, int size, long step) const override {
    const int group = group_of(size);
    std::vector<Peers::Source> edges;
    for (const int member : butterfly_group(rank, size, group, step))
      edges.push_back({member, 1 / static_cast<float>(group)});
    return undirected(rank, edges);
  }
  std::string size_error(int size) const override {
    if (!power_of_two(size)) return "its groups need a power of two";
    if (group_ > size) return fmt::format("its groups have {} members", group_);
    if (group_ == 1 && size > 1) return "its groups have 1 member, so nobody would average";
    return {};
  }
  long period(int size) const override {
    const int phases = std::max(1, log2(size)), in_group = log2(group_of(size));
    return in_group == 0 ? 1 : phases / std::gcd(phases, in_group);
  }

 private:
  int group_of(int size) const { return butterfly_group_size(group_, size); }
  int group_;  // group size S; 0: the default
};

/// A power of two, or 0 for the default.
OptionType<std::int64_t> group_kind() {
  OptionType<std::int64_t> kind = integer(0, 1 << 20);
  kind.parse = [parse = kind.parse](const Json& j, const std::string& pointer) {
    const std::int64_t group = parse(j, pointer);
    if (group != 0 && !power_of_two(group))
      throw ConfigError(pointer, fmt::format("expected a power of two, not {}", group));
    return group;
  };
  return kind;
}

}  // namespace

PeerGraphEntry butterfly_graph() {
  return graph_entry<Butterfly>(
      "butterfly", "Changing groups of S, weights 1/S: the groups of WAGMA-SGD (arXiv 2005.00124)",
      FieldTable<ButterflyOptions>{}.field("group", &ButterflyOptions::group, group_kind(),
                                           "S: group size, a power of two; 0: about sqrt(P)"));
}

}  // namespace trigram
