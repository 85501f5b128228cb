#include "tests/oracles/closed_forms.h"

#include <algorithm>
#include <vector>

#include "tests/oracles/clocks.h"
#include "tests/oracles/flows.h"

namespace trigram::test {
namespace {

std::size_t ceil_div(std::size_t n, int parts) {
  const auto p = static_cast<std::size_t>(parts);
  return (n + p - 1) / p;
}

bool power_of_two(int P) { return P == 1 << floor_log2(P); }

}  // namespace

int floor_log2(int P) {
  int exponent = 0;
  while (P >> (exponent + 1)) ++exponent;
  return exponent;
}

int ceil_log2(int P) { return power_of_two(P) ? floor_log2(P) : floor_log2(P) + 1; }

// Ring (Patarasuk and Yuan, JPDC 2009). Part c starts at rank c + 1; each of P - 1 hops adds to it,
// until it is complete at rank c; then it makes P - 1 more hops. The longest part determines the
// longest message and the longest addition in every step.
double ring_reduce_scatter_s(const CostModel& c, int P, std::size_t n, bool average) {
  if (P == 1) return 0;
  const std::size_t part = ceil_div(n, P);
  return (P - 1) * (c.message(part) + c.accumulate(part)) + (average ? c.scale(part) : 0);
}

double ring_allgather_of_s(const CostModel& c, int P, std::size_t longest) {
  return (P - 1) * c.message(longest);
}

// P - 1 messages leave every rank at once, and as many arrive, so every message gets at least 1 /
// (P - 1) of a link. The messages of the rank with the longest tensor get no more than that.
double direct_allgather_of_s(const CostModel& c, int P, std::size_t longest) {
  return P == 1 ? 0 : c.message(static_cast<std::size_t>(P - 1) * longest);
}

double ring_allgather_s(const CostModel& c, int P, std::size_t n) {
  return ring_allgather_of_s(c, P, ceil_div(n, P));
}

double ring_allreduce_s(const CostModel& c, int P, std::size_t n, bool average) {
  return ring_reduce_scatter_s(c, P, n, average) + ring_allgather_s(c, P, n);
}

// In stage k, rank j + 1 + k sends the chunk whose reduction ends at rank j. Chunks are added in
// the first P - 1 stages. A rank sends the chunks of a stage one after another, as soon as it has
// them and has sent the chunks of the stage before.
double channelled_ring_allreduce_s(const CostModel& c, int P, std::size_t n, bool average,
                                   int channels) {
  if (P == 1) return 0;
  const auto ranks = static_cast<std::size_t>(P);
  const auto chunk = [&](int channel, int index) {
    const std::size_t in_channel =
        part_length(n, static_cast<std::size_t>(channel), static_cast<std::size_t>(channels));
    return part_length(in_channel, static_cast<std::size_t>(index % P), ranks);
  };
  std::vector<double> ready(ranks, 0), free(ranks, 0), arrives(ranks, 0), reducing_s(ranks, 0);
  for (int k = 0; k < 2 * (P - 1); ++k) {
    for (int p = 0; p < P; ++p) {
      const auto self = static_cast<std::size_t>(p), next = static_cast<std::size_t>((p + 1) % P);
      double moving_s = 0;
      reducing_s[next] = 0;
      for (int channel = 0; channel < channels; ++channel) {
        const std::size_t length = chunk(channel, p - 1 - k + 2 * P);
        moving_s += c.message(length) - c.alpha_s;
        if (k < P - 1) reducing_s[next] += c.accumulate(length);
        if (k == P - 2 && average) reducing_s[next] += c.scale(length);
      }
      free[self] = std::max(ready[self], free[self]) + moving_s;
      arrives[next] = free[self] + c.alpha_s;
    }
    for (std::size_t r = 0; r < ranks; ++r)
      ready[r] = std::max(ready[r], arrives[r]) + reducing_s[r];
  }
  return *std::max_element(ready.begin(), ready.end());
}

// For ranks beyond a power of two (Thakur, Rabenseifner and Gropp, IJHPCA 2005) there are one whole
// message and one addition before, and one whole message after.
double recursive_doubling_allreduce_s(const CostModel& c, int P, std::size_t n, bool average) {
  const double round = c.message(n) + c.accumulate(n);
  const double fold = power_of_two(P) ? 0 : round + c.message(n);
  return fold + floor_log2(P) * round + (average ? c.scale(n) : 0);
}

// Rabenseifner (ICCS 2004). In round j the pieces of the vector are halved; the longest piece then
// has ceil(n / 2^j) elements. A pair's round lasts as long as its longer message, so the longest
// piece of every round determines the time.
double rabenseifner_allreduce_s(const CostModel& c, int P, std::size_t n, bool average) {
  double total = power_of_two(P) ? 0 : c.message(n) + c.accumulate(n) + c.message(n);
  std::size_t piece = n;
  for (int round = 0; round < floor_log2(P); ++round) {
    piece = ceil_div(piece, 2);
    total += 2 * c.message(piece) + c.accumulate(piece);
  }
  return total + (average ? c.scale(piece) : 0);
}

// If P is not a power of two, an active rank represents one or two parts of n / P. The halves then
// differ by more than rounding, so the clocks of the ranks are simulated instead.
double recursive_halving_reduce_scatter_s(const CostModel& c, int P, std::size_t n, bool average) {
  Clocks clocks(c, P, n);
  clocks.fold_in([&](int) { return n; }, true);
  clocks.halve();
  clocks.fold_out([&](int folded) { return clocks.part(folded); });
  if (average) clocks.scale_parts();
  return clocks.last();
}

double recursive_doubling_allgather_s(const CostModel& c, int P, std::size_t n) {
  Clocks clocks(c, P, n);
  clocks.fold_in([&](int folded) { return clocks.part(folded); }, false);
  clocks.double_up();
  clocks.fold_out([&](int) { return n; });
  return clocks.last();
}

// Binomial trees. A rank that has the vector sends it to all its children at once, and these
// messages share its port. The children of rank r in a tree are r + 2^i, for all 2^i below r's
// lowest bit. Returns the seconds from the time at which `rank` has the vector until all ranks
// below it have it.
static double broadcast_below_s(const CostModel& c, int P, int rank, std::size_t n) {
  std::vector<int> children;
  for (int distance = 1; distance < P && !(rank & distance); distance *= 2)
    if (rank + distance < P) children.push_back(rank + distance);
  double last_s = 0;
  for (const int child : children)
    last_s = std::max(last_s, c.message(children.size() * n) + broadcast_below_s(c, P, child, n));
  return last_s;
}

double binomial_broadcast_s(const CostModel& c, int P, std::size_t n) {
  return broadcast_below_s(c, P, 0, n);
}

// The time at which `rank` has the sum of its subtree. Children send when they have their sums.
// Messages that arrive at the same time share the port.
static double reduced_s(const CostModel& c, int P, int rank, std::size_t n) {
  std::vector<Flow> flows;
  std::vector<double> bandwidth_Bps = {1 / c.beta_s};  // of the port, then of the children's ports
  for (int distance = 1; distance < P && !(rank & distance); distance *= 2) {
    if (rank + distance >= P) continue;
    bandwidth_Bps.push_back(1 / c.beta_s);
    flows.push_back({reduced_s(c, P, rank + distance, n) + c.alpha_s,
                     4.0 * static_cast<double>(n),
                     {0, bandwidth_Bps.size() - 1}});
  }
  double now_s = 0;
  const auto ends = n > 0 ? max_min_ends(bandwidth_Bps, flows) : std::vector<double>();
  for (std::size_t i = 0; i < flows.size(); ++i)
    now_s = std::max(now_s, n > 0 ? ends[i] : flows[i].start_s) + c.accumulate(n);
  return now_s;
}

double binomial_reduce_s(const CostModel& c, int P, std::size_t n, bool average) {
  if (P == 1) return 0;
  return reduced_s(c, P, 0, n) + (average ? c.scale(n) : 0);
}

// A chain of P - 1 hops. Every rank forwards a segment as soon as it has the segment and has sent
// the segment before.
static double chain_s(const CostModel& c, int P, std::size_t n, int segments, bool reduces) {
  const auto hops = static_cast<std::size_t>(P - 1), m = static_cast<std::size_t>(segments);
  std::vector<double> free(hops, 0), ready(hops + 1, 0);
  for (std::size_t i = 0; i < m; ++i) {
    const std::size_t length = part_length(n, i, m);
    for (std::size_t h = 0; h < hops; ++h) {
      free[h] = std::max(ready[h], free[h]) + c.message(length) - c.alpha_s;
      ready[h + 1] =
          std::max(ready[h + 1], free[h] + c.alpha_s) + (reduces ? c.accumulate(length) : 0);
    }
  }
  return ready[hops];
}

double pipelined_broadcast_s(const CostModel& c, int P, std::size_t n, int segments) {
  return P == 1 ? 0 : chain_s(c, P, n, segments, false);
}

double pipelined_reduce_s(const CostModel& c, int P, std::size_t n, int segments, bool average) {
  return P == 1 ? 0 : chain_s(c, P, n, segments, true) + (average ? c.scale(n) : 0);
}

// P - 1 messages leave every rank at once, and as many arrive. Before that, the rank copies its own
// part.
double direct_alltoall_s(const CostModel& c, int P, std::size_t n) {
  const std::size_t part = ceil_div(n, P);
  return c.copy(part) + (P == 1 ? 0 : c.message(static_cast<std::size_t>(P - 1) * part));
}

}  // namespace trigram::test
