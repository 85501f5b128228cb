#include "algorithms/peers/random_pairs.h"

#include "algorithms/peers/peer_graph.h"
#include "algorithms/peers/registry.h"
#include "core/random/philox.h"

namespace trigram {
namespace {

/// A random perfect matching in every step, with weights 1/2; if the number of ranks is odd, one
/// rank has no partner. All ranks draw the same permutation of the ranks and cut it into pairs.
class RandomMatching final : public PeerGraph {
 public:
  RandomMatching(const NoOptions&, std::uint64_t seed) : seed_(seed) {}
  Peers peers(int rank, int size, long step) const override {
    const auto order =
        Philox(seed_, 0, step, Purpose::peers).permutation(static_cast<std::uint32_t>(size));
    for (std::size_t i = 0; i + 1 < order.size(); i += 2) {
      const int a = static_cast<int>(order[i]), b = static_cast<int>(order[i + 1]);
      if (rank == a) return pair_with(rank, b);
      if (rank == b) return pair_with(rank, a);
    }
    return {};
  }
  long period(int size) const override { return size <= 2 ? 1 : kAperiodic; }

 private:
  std::uint64_t seed_;
};

}  // namespace

PeerGraphEntry random_matching_graph() {
  return graph_entry<RandomMatching>(
      "random_matching", "One partner: a random perfect matching in every step, weights 1/2",
      FieldTable<NoOptions>{});
}

namespace {

/// A geometrically distributed number of steps, limited to `limit`.
long draw_interval(std::uint64_t seed, long round, std::int64_t mean, long limit) {
  Philox draw(seed, 1, round, Purpose::peers);  // the matchings use the draws of rank 0
  long steps = 1;
  while (steps < limit && draw.below(static_cast<std::uint32_t>(mean)) != 0) ++steps;
  return steps;
}

}  // namespace

RandomPairs::RandomPairs(std::uint64_t seed, Interval interval, std::int64_t mean_interval,
                         long steps)
    : pairs_(make_peer_graph({"random_matching"}, seed)) {
  for (long end = 0;;) {
    end += interval == Interval::fixed
               ? mean_interval
               : draw_interval(seed, count(), mean_interval, steps - end + 1);
    if (end > steps) return;
    due_.push_back(end - 1);
  }
}

}  // namespace trigram
