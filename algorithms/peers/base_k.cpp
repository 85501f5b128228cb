#include <algorithm>

#include "algorithms/peers/grid_group.h"
#include "algorithms/peers/peer_graph.h"
#include "algorithms/peers/registry.h"

// The Base-(k+1) graph (Takezawa et al., arXiv 2305.11420): for any number of ranks, a finite
// sequence of rounds after which each rank has the exact mean over all ranks, although no rank has
// more than k peers in a round. This implementation is derived from the paper's idea, in three
// forms, each of which builds on the one before:
//
// A hypercube, for numbers of ranks without prime factors above k+1: ranks form a grid with sides
// of at most k+1, and in every round each line along one axis averages.
//
// Digits, for all numbers: the number of ranks is written in base k+1, and each digit stands for
// some of the ranks. A digit of value v at place p stands for v blocks of (k+1)^p consecutive
// ranks. First the ranks of each digit average among themselves, as a hypercube. Then, digit by
// digit from the highest, every rank of all lower digits exchanges with one rank in each block of
// the digit. The weight is (k+1)^p / N, where N is the number of ranks of this digit and all lower
// digits. After this exchange the mean over each block is the mean of all N ranks, and so is the
// mean over the lower digits. In p more rounds, each block brings its mean to all its members, as a
// hypercube.
//
// Copies, for numbers of ranks that have a factor without prime factors above k+1: the ranks are
// divided into that many groups of equal size, the copies. Each copy averages by digits, then
// hypercubes average over the copies. This form is used unless it needs more rounds.

namespace trigram {
namespace {

struct Options {
  std::int64_t peers = 1;
};

using Edges = std::vector<Peers::Source>;

/// Factors of n that are at most `limit`, each as large as possible; larger prime factors are left
/// out.
std::vector<int> factors_up_to(int limit, int n) {
  std::vector<int> factors;
  for (int factor = limit; factor > 1; factor = std::min(factor, n)) {
    if (n % factor == 0) {
      factors.push_back(factor);
      n /= factor;
    } else {
      --factor;
    }
  }
  return factors;
}

/// The rounds of a hypercube of n ranks with sides of at most `limit`.
long rounds_of(int limit, int n) { return static_cast<long>(factors_up_to(limit, n).size()); }

/// The edges of `rank` along one line of a hypercube with `sides` whose first rank is `begin`; none
/// after its last round.
Edges hypercube_edges(int rank, int begin, int size, const std::vector<int>& sides, long round) {
  Edges edges;
  if (round >= static_cast<long>(sides.size())) return edges;
  const float weight = 1 / static_cast<float>(sides[static_cast<std::size_t>(round)]);
  for (const int member : grid_group(rank - begin, size, sides, round))
    edges.push_back({begin + member, weight});
  return edges;
}

/// `blocks` blocks of `length` ranks each, from rank `begin` on.
struct Digit {
  int begin, blocks, length;
  int ranks() const { return blocks * length; }
  int end() const { return begin + ranks(); }
};

/// The nonzero digits of `size` in base `base`, the highest first.
std::vector<Digit> digits_of(int size, int base) {
  int length = 1;
  while (length <= size / base) length *= base;
  std::vector<Digit> digits;
  for (int begin = 0; begin < size; length /= base)
    if (const int blocks = (size - begin) / length; blocks > 0) {
      digits.push_back({begin, blocks, length});
      begin = digits.back().end();
    }
  return digits;
}

long rounds_of_digits(int size, int base) {
  const std::vector<Digit> digits = digits_of(size, base);
  const long among = rounds_of(base, digits[0].ranks());
  return digits.size() == 1 ? among : among + 1 + rounds_of(base, digits[0].length);
}

Edges edges_of_digits(int rank, int size, int base, long round) {
  const std::vector<Digit> digits = digits_of(size, base);
  std::size_t own = 0;
  while (rank >= digits[own].end()) ++own;
  const Digit& mine = digits[own];
  const long among = rounds_of(base, digits[0].ranks());
  if (round < among)
    return hypercube_edges(rank, mine.begin, mine.ranks(), factors_up_to(base, mine.ranks()),
                           round);
  // In this round the ranks of digit `turn` exchange with the ranks of all lower digits.
  const auto turn = static_cast<std::size_t>(round - among);
  const Digit& upper = digits[std::min(turn, own)];
  const float weight = static_cast<float>(upper.length) / static_cast<float>(size - upper.begin);
  Edges edges;
  if (turn < own) {
    for (int block = 0; block < upper.blocks; ++block)
      edges.push_back({upper.begin + block * upper.length + rank - upper.end(), weight});
  } else if (turn == own) {
    const int lower = mine.end() + (rank - mine.begin) % mine.length;
    if (lower < size) edges.push_back({lower, weight});
  } else if (own + 1 < digits.size()) {  // the ranks of the last digit already have the mean
    const int block = rank - (rank - mine.begin) % mine.length;
    return hypercube_edges(rank, block, mine.length, factors_up_to(base, mine.length),
                           static_cast<long>(turn - own - 1));
  }
  return edges;
}

class BaseK final : public PeerGraph {
 public:
  explicit BaseK(const Options& options) : base_(static_cast<int>(options.peers) + 1) {}

  Peers peers(int rank, int size, long step) const override {
    const int part = part_of(size), begin = rank - rank % part;
    const long round = step % period(size), in_part = rounds_of_digits(part, base_);
    Edges edges;
    if (round < in_part) {
      edges = edges_of_digits(rank - begin, part, base_, round);
      for (Peers::Source& edge : edges) edge.rank += begin;
    } else {
      std::vector<int> sides = factors_up_to(base_, size / part);
      sides.insert(sides.begin(), part);
      edges = hypercube_edges(rank, 0, size, sides, 1 + round - in_part);
    }
    return undirected(rank, edges);
  }

  long period(int size) const override { return std::max(1L, rounds(size, part_of(size))); }

 private:
  /// The number of ranks in a copy: `size` itself, or `size` without its factors up to the base.
  int part_of(int size) const {
    int part = size;
    for (const int factor : factors_up_to(base_, size)) part /= factor;
    return rounds(size, part) <= rounds(size, size) ? part : size;
  }
  long rounds(int size, int part) const {
    return rounds_of_digits(part, base_) + rounds_of(base_, size / part);
  }

  int base_;  // k + 1
};

}  // namespace

PeerGraphEntry base_k_graph() {
  return graph_entry<BaseK>(
      "base_k",
      "At most k peers per step, and the exact mean after a few steps for any number of ranks: the "
      "Base-(k+1) graph (arXiv 2305.11420)",
      FieldTable<Options>{}.field("peers", &Options::peers, integer(1, 64),
                                  "k: largest number of peers of a rank per step"));
}

}  // namespace trigram
