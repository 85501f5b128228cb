#pragma once

#include <string>
#include <vector>

namespace trigram {

/// The exchange of one rank in one step of a decentralised method: the ranks that it sends to, the
/// ranks that it receives from, and its row of the mixing matrix W.
struct Peers {
  struct Source {
    int rank;
    float weight;
  };
  float self_weight = 1;
  std::vector<Source> receive_from;  // every rank at most once, never this rank itself
  std::vector<int> send_to;          // likewise
};

/// Defines which ranks average: a mixing matrix W for every step, row by row. All ranks compute it
/// without communication, and consistently: j receives from i exactly if i sends to j. W is doubly
/// stochastic, and it is symmetric unless the graph is directed.
class PeerGraph {
 public:
  virtual ~PeerGraph() = default;
  /// The row of `rank` among `size` ranks in step `step`. A single rank has no peers.
  virtual Peers peers(int rank, int size, long step) const = 0;
  /// The reason why this graph cannot serve `size` ranks ("it pairs ranks, so ..."); empty if it
  /// can.
  virtual std::string unfit(int /*size*/) const { return {}; }
  /// The number of steps after which the graph repeats: 1 if it never changes, kNever if every step
  /// is drawn at random.
  virtual long period(int /*size*/) const { return 1; }
  static constexpr long kNever = 0;
  /// Every rank that `rank` sends to in some step, ascending. The default is the union over a
  /// period or, without a period, all other ranks.
  virtual std::vector<int> partners(int rank, int size) const;
  /// True if i may send to j without receiving from it.
  virtual bool directed() const { return false; }
};

}  // namespace trigram
