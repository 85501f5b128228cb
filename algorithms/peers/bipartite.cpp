#include <algorithm>

#include "algorithms/peers/peer_graph.h"
#include "algorithms/peers/registry.h"
#include "core/random/philox.h"

namespace trigram {
namespace {

enum class Hop { rotating, random };

struct BipartiteOptions {
  Hop hop = Hop::random;
};

/// Each even rank averages with the odd rank that is h ranks ahead, with weights 1/2. The hop h is
/// odd: 1, 3, 5, ... in turn, or drawn in every step. This is the graph that AD-PSGD needs (arXiv
/// 1710.06952): ranks that start an exchange never wait for each other. If the number of ranks is
/// odd, the graph is that of one more rank, and the partner of this virtual rank has no partner.
class Bipartite final : public PeerGraph {
 public:
  Bipartite(const BipartiteOptions& options, std::uint64_t seed) : hop_(options.hop), seed_(seed) {}
  Peers peers(int rank, int size, long step) const override {
    if (size == 1) return {};
    const int even_size = even_size_of(size);
    const long hops = even_size / 2;
    const long chosen =
        hop_ == Hop::rotating
            ? step % hops
            : Philox(seed_, 0, step, Purpose::peers).below(static_cast<std::uint32_t>(hops));
    const long hop = 2 * chosen + 1;
    const int partner = around(rank, rank % 2 == 0 ? hop : -hop, even_size);
    return pair_with(rank, partner < size ? partner : rank);
  }
  long period(int size) const override {
    if (size <= 2) return 1;
    return hop_ == Hop::rotating ? even_size_of(size) / 2 : kAperiodic;
  }
  std::vector<int> partners(int rank, int size) const override {
    std::vector<int> other_side;
    for (int other = 1 - rank % 2; other < size; other += 2) other_side.push_back(other);
    return other_side;
  }

 private:
  static int even_size_of(int size) { return size + size % 2; }
  Hop hop_;
  std::uint64_t seed_;
};

}  // namespace

PeerGraphEntry bipartite_graph() {
  return graph_entry<Bipartite>(
      "bipartite",
      "One partner: even ranks average with odd ranks an odd number of hops away, weights 1/2",
      FieldTable<BipartiteOptions>{}.field(
          "hop", &BipartiteOptions::hop,
          one_of<Hop>({{"rotating", Hop::rotating}, {"random", Hop::random}}),
          "Distance of the partner: 1, 3, 5, ... in turn, or drawn at random in every step"));
}

}  // namespace trigram
