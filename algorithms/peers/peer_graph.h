#pragma once

#include <span>
#include <string>
#include <vector>

namespace trigram {

/// The peers of one rank in one step of a decentralised method, and the rank's row of the mixing
/// matrix W, that is, the weights with which the rank averages models.
struct Peers {
  struct Source {
    int rank;
    float weight;
  };
  float self_weight = 1;
  std::vector<Source> receive_from;  // each peer once; never the rank itself
  std::vector<int> send_to;          // each peer once; never the rank itself
};

/// A communication graph. It defines the peers of every rank in every step, and hence the mixing
/// matrix W of the step. Each rank computes its row without communication, and the rows agree: j
/// receives from i if and only if i sends to j. W is doubly stochastic, and symmetric unless the
/// graph is directed.
class PeerGraph {
 public:
  virtual ~PeerGraph() = default;
  /// The peers of `rank` at `step`, in a graph of `size` ranks. If `size` is 1, there are none.
  virtual Peers peers(int rank, int size, long step) const = 0;
  /// Returns the reason why the graph cannot have `size` ranks; empty if it can. The text is
  /// printed after, for example, "shift_one cannot serve 5 workers: ".
  virtual std::string size_error(int /*size*/) const { return {}; }
  /// The number of steps after which the graph repeats: 1 if it is the same in every step,
  /// kAperiodic if it is random.
  virtual long period(int /*size*/) const { return 1; }
  static constexpr long kAperiodic = 0;
  /// All ranks to which `rank` sends in some step, in ascending order. The default implementation
  /// returns the union over a period, or all other ranks if the graph is aperiodic.
  virtual std::vector<int> partners(int rank, int size) const;
  /// True if i may send to j without receiving from j.
  virtual bool directed() const { return false; }
};

// Helpers for graphs that compute their rows of the mixing matrix.

/// The rank `hops` ahead of `rank`, where rank 0 follows rank size - 1; hops may be negative.
inline int around(int rank, long hops, int size) {
  return static_cast<int>(((rank + hops) % size + size) % size);
}

/// The row of a rank of an undirected graph: it sends to every peer that it receives from. A peer
/// in several edges counts once, with the sum of their weights. Edges to `rank` itself are ignored,
/// since its own weight is 1 minus the weights of the peers.
Peers undirected(int rank, std::span<const Peers::Source> edges);

/// The row of a rank in a pair, with weights 1/2. If `partner` is `rank` itself, its weight is 1.
Peers pair_with(int rank, int partner);

/// The row of a rank that sends to the ranks `hops` ahead and receives from the ranks `hops`
/// behind, with equal weights 1/(number of hops + 1). Hops that lead to the same rank are merged as
/// in `undirected`.
Peers by_hops(int rank, int size, std::span<const long> hops);

/// The sides of the most nearly square rectangle of `size` ranks, numbered row by row.
struct Rectangle {
  explicit Rectangle(int size);
  int rows, columns;
};

}  // namespace trigram
