#pragma once

#include <string>
#include <vector>

namespace trigram {

/// What one rank does in one step of a decentralised method: whom it sends to, whom it receives
/// from, and the row of the mixing matrix W that it averages with.
struct Peers {
  struct Source {
    int rank;
    float weight;
  };
  float self_weight = 1;
  std::vector<Source> receive_from;  // every rank at most once, never the own one
  std::vector<int> send_to;          // likewise
};

/// Who averages with whom: a mixing matrix W for every step, row by row. All ranks agree on it
/// without asking each other: j receives from i exactly when i sends to j. W is doubly stochastic,
/// and symmetric unless the graph is directed.
class PeerGraph {
 public:
  virtual ~PeerGraph() = default;
  /// The row of `rank` among `size` ranks, at `step`. One rank alone has no peers.
  virtual Peers peers(int rank, int size, long step) const = 0;
  /// Why this graph cannot serve that many ranks ("it pairs ranks, so ..."); empty when it can.
  virtual std::string unfit(int /*size*/) const { return {}; }
  /// The number of steps after which the graph repeats; 1 when it is always the same, kNever when
  /// every step is drawn anew.
  virtual long period(int /*size*/) const { return 1; }
  static constexpr long kNever = 0;
  /// Every rank that `rank` sends to in some step, ascending. This default is the union over a
  /// period, or, without one, all others.
  virtual std::vector<int> partners(int rank, int size) const;
  /// True when i may send to j without receiving from it.
  virtual bool directed() const { return false; }
};

}  // namespace trigram
