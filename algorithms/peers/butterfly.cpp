#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "algorithms/peers/butterfly_group.h"
#include "algorithms/peers/entries.h"
#include "algorithms/peers/weights.h"

namespace trigram {
namespace {

int log2(int power) { return std::countr_zero(static_cast<unsigned>(power)); }
bool power_of_two(int n) { return std::has_single_bit(static_cast<unsigned>(n)); }

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
    if (group != 0 && !power_of_two(static_cast<int>(group)))
      throw ConfigError(pointer, fmt::format("expected a power of two, not {}", group));
    return group;
  };
  return kind;
}

}  // namespace

PeerGraphEntry butterfly_graph() {
  return component<PeerGraph, std::uint64_t>(
      "butterfly", "Changing groups of S, weights 1/S: the groups of WAGMA-SGD (arXiv 2005.00124)",
      FieldTable<ButterflyOptions>{}.field("group", &ButterflyOptions::group, group_kind(),
                                           "S: group size, a power of two; 0: about sqrt(P)"),
      [](const ButterflyOptions& options, std::uint64_t) {
        return std::make_unique<Butterfly>(options);
      });
}

}  // namespace trigram
