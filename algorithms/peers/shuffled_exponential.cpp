#include <algorithm>
#include <bit>

#include "algorithms/peers/peer_graph.h"
#include "algorithms/peers/registry.h"
#include "core/random/philox.h"

namespace trigram {
namespace {

enum class Topology { dissemination, cube };

struct ShuffledOptions {
  Topology topology = Topology::dissemination;
};

/// One peer in every step, with weights 1/2. All ranks are arranged in a random order. The peer is
/// the rank 2^i positions behind (dissemination), or the rank whose position differs in bit i
/// (cube). In a round, i takes all values below log2 P in turn; the order is shuffled before every
/// round (GossipGraD, arXiv 1803.05880).
class ShuffledExponential final : public PeerGraph {
 public:
  ShuffledExponential(const ShuffledOptions& options, std::uint64_t seed)
      : topology_(options.topology), seed_(seed) {}
  Peers peers(int rank, int size, long step) const override {
    if (size == 1) return {};
    const auto order = Philox(seed_, 0, step / rounds(size), Purpose::peers)
                           .permutation(static_cast<std::uint32_t>(size));
    const auto at = std::find(order.begin(), order.end(), static_cast<std::uint32_t>(rank));
    const int position = static_cast<int>(at - order.begin()), hop = 1 << (step % rounds(size));
    const auto rank_at = [&](int place) {
      return static_cast<int>(order[static_cast<std::size_t>(place)]);
    };
    if (topology_ == Topology::cube) return pair_with(rank, rank_at(position ^ hop));
    Peers peers;
    peers.self_weight = 0.5f;
    peers.receive_from.push_back({rank_at(around(position, -hop, size)), 0.5f});
    peers.send_to.push_back(rank_at(around(position, hop, size)));
    return peers;
  }
  std::string size_error(int size) const override {
    if (topology_ == Topology::dissemination || std::has_single_bit(static_cast<unsigned>(size)))
      return {};
    return "its cube needs a power of two";
  }
  long period(int size) const override { return size <= 2 ? 1 : kAperiodic; }
  bool directed() const override { return topology_ == Topology::dissemination; }

 private:
  static int rounds(int size) { return std::bit_width(static_cast<unsigned>(size - 1)); }

  Topology topology_;
  std::uint64_t seed_;
};

}  // namespace

PeerGraphEntry shuffled_exponential_graph() {
  return graph_entry<ShuffledExponential>(
      "shuffled_exponential",
      "One peer, 1, 2, 4, ... places away in an order reshuffled after each round, weights 1/2 "
      "(GossipGraD, arXiv 1803.05880)",
      FieldTable<ShuffledOptions>{}.field(
          "topology", &ShuffledOptions::topology,
          one_of<Topology>({{"dissemination", Topology::dissemination}, {"cube", Topology::cube}}),
          "dissemination: send to the peer ahead and receive from the peer behind; cube: exchange "
          "with the peer whose place differs in one bit"));
}

}  // namespace trigram
