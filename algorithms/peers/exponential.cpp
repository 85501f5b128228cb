#include <algorithm>
#include <bit>

#include "algorithms/peers/peer_graph.h"
#include "algorithms/peers/registry.h"

// Directed graphs whose edges lead 1, 2, 4, ... ranks ahead.

namespace trigram {
namespace {

/// The number of powers of two below `size`: ceil(log2 size).
int powers_below(int size) { return std::bit_width(static_cast<unsigned>(size - 1)); }

/// All hops 2^i < P in every step, with uniform weights (BlueFog's ExponentialTwoGraph).
class StaticExponential final : public PeerGraph {
 public:
  Peers peers(int rank, int size, long /*step*/) const override {
    std::vector<long> hops;
    for (int i = 0; i < powers_below(size); ++i) hops.push_back(1L << i);
    return by_hops(rank, size, hops);
  }
  bool directed() const override { return true; }
};

/// One hop of 2^(t mod ceil(log2 P)) in step t, with weights 1/2. If P is a power of two, the
/// average is exact after ceil(log2 P) steps (arXiv 2110.13363).
class OnePeerExponential final : public PeerGraph {
 public:
  Peers peers(int rank, int size, long step) const override {
    if (size == 1) return {};
    const long hop = 1L << (step % period(size));
    return by_hops(rank, size, {&hop, 1});
  }
  long period(int size) const override { return std::max(1, powers_below(size)); }
  bool directed() const override { return true; }
};

/// Selects one of the two graphs below: `multiples` stands for NPeerExponential, `powers` for
/// SuccessivePowers.
enum class HopRule { multiples, powers };

struct NPeerOptions {
  std::int64_t peers = 2;
  HopRule hops = HopRule::multiples;
};

/// Hops j (d+1)^i for j = 1..d in each step; i cycles from 0 through all values with (d+1)^i < P
/// (the N-peer graph of stochastic gradient push, arXiv 1811.10792). For d = 1 it is
/// one_peer_exponential.
class NPeerExponential final : public PeerGraph {
 public:
  explicit NPeerExponential(long peers) : peers_(peers) {}
  Peers peers(int rank, int size, long step) const override {
    if (size == 1) return {};
    long stride = 1;
    for (long i = step % period(size); i > 0; --i) stride *= peers_ + 1;
    std::vector<long> hops;
    for (long j = 1; j <= peers_; ++j) hops.push_back(j * stride);
    return by_hops(rank, size, hops);
  }
  long period(int size) const override {
    long rounds = 0;
    for (long stride = 1; stride < size; stride *= peers_ + 1) ++rounds;
    return std::max(1L, rounds);
  }
  bool directed() const override { return true; }

 private:
  long peers_;
};

/// In step t, the hops are 2^((t + j) mod R) for j = 0..d-1, with R = floor(log2 P): d successive
/// powers of two, which wrap around after 2^(R-1) (the stochastic gradient push in the released
/// code of WAGMA-SGD, with d = 2).
class SuccessivePowers final : public PeerGraph {
 public:
  explicit SuccessivePowers(long peers) : peers_(peers) {}
  Peers peers(int rank, int size, long step) const override {
    if (size == 1) return {};
    std::vector<long> hops;
    for (long j = 0; j < peers_; ++j) hops.push_back(1L << (step + j) % floor_log2(size));
    return by_hops(rank, size, hops);
  }
  long period(int size) const override {
    // If d is a multiple of R, every step uses each power d/R times.
    const bool same_in_every_step = peers_ % floor_log2(size) == 0;
    return same_in_every_step ? 1 : floor_log2(size);
  }
  bool directed() const override { return true; }

 private:
  /// R; 1 for a single rank, which has no hops.
  static long floor_log2(int size) { return std::max(1, powers_below(size + 1) - 1); }
  long peers_;
};

}  // namespace

PeerGraphEntry static_exponential_graph() {
  return plain_graph<StaticExponential>(
      "static_exponential", "Directed: to the ranks 1, 2, 4, ... ahead, equal weights (BlueFog)");
}

PeerGraphEntry one_peer_exponential_graph() {
  return plain_graph<OnePeerExponential>(
      "one_peer_exponential",
      "Directed: to one rank, 1, 2, 4, ... ahead in turn, weights 1/2 (arXiv 2110.13363)");
}

PeerGraphEntry n_peer_exponential_graph() {
  return component<PeerGraph, std::uint64_t>(
      "n_peer_exponential",
      "Directed: to the d ranks that are j (d+1)^i ahead, j = 1..d; i advances by one in each "
      "step and wraps around (arXiv 1811.10792)",
      FieldTable<NPeerOptions>{}
          .field("peers", &NPeerOptions::peers, integer(1, 64),
                 "d: number of ranks to send to per step")
          .field("hops", &NPeerOptions::hops,
                 one_of<HopRule>({{"multiples", HopRule::multiples}, {"powers", HopRule::powers}}),
                 "Distances ahead: multiples of a power of d+1, or d successive powers of two, "
                 "starting one power higher in each step (released code of WAGMA-SGD)"),
      [](const NPeerOptions& options, std::uint64_t) -> std::unique_ptr<PeerGraph> {
        if (options.hops == HopRule::powers)
          return std::make_unique<SuccessivePowers>(options.peers);
        return std::make_unique<NPeerExponential>(options.peers);
      });
}

}  // namespace trigram
