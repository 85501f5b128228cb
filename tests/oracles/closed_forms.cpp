#include "tests/oracles/closed_forms.h"

#include <algorithm>
#include <vector>

#include "tests/oracles/clocks.h"

namespace trigram::test {
namespace {

std::size_t ceil_div(std::size_t n, int parts) {
  const auto p = static_cast<std::size_t>(parts);
  return (n + p - 1) / p;
}

double times(int count, double seconds) { return count * seconds; }

bool power_of_two(int P) { return P == 1 << floor_log2(P); }

}  // namespace

int floor_log2(int P) {
  int exponent = 0;
  while (P >> (exponent + 1)) ++exponent;
  return exponent;
}

int ceil_log2(int P) { return power_of_two(P) ? floor_log2(P) : floor_log2(P) + 1; }

// Ring (Patarasuk and Yuan, JPDC 2009): part c leaves rank c + 1 and is added to at each of P - 1
// hops, until it is complete at rank c; then it makes P - 1 more hops. A longest part meets the
// longest message and the longest addition in every step.
double ring_reduce_scatter_s(const CostModel& c, int P, std::size_t n, bool average) {
  if (P == 1) return 0;
  const std::size_t part = ceil_div(n, P);
  return times(P - 1, c.message(part) + c.accumulate(part)) + (average ? c.scale(part) : 0);
}

double ring_allgather_of_s(const CostModel& c, int P, std::size_t longest) {
  return times(P - 1, c.message(longest));
}

// P - 1 messages leave every rank at once, and as many arrive, so no fair share is below
// 1 / (P - 1) of a link; those of the rank that has the longest tensor have no more either.
double direct_allgather_of_s(const CostModel& c, int P, std::size_t longest) {
  return P == 1 ? 0 : c.message(static_cast<std::size_t>(P - 1) * longest);
}

double ring_allgather_s(const CostModel& c, int P, std::size_t n) {
  return ring_allgather_of_s(c, P, ceil_div(n, P));
}

double ring_allreduce_s(const CostModel& c, int P, std::size_t n, bool average) {
  return ring_reduce_scatter_s(c, P, n, average) + ring_allgather_s(c, P, n);
}

// Groups of W ranks. In turn i the (i mod W)-th rank of every group hands the next rank the chunks
// of the W stages up to i, in every channel, and all others wait for theirs. In
// stage k the chunk that ends its reduction at rank j leaves rank j + 1 + k; a stage up to the
// (P-1)th adds. A message starts when both of its ranks are there.
double channelled_ring_allreduce_s(const CostModel& c, int P, std::size_t n, bool average,
                                   int channels, int in_flight) {
  const int stages = 2 * (P - 1), W = in_flight;
  const auto chunk = [&](int channel, int index) {
    const auto of = static_cast<std::size_t>(channels), at = static_cast<std::size_t>(channel);
    const auto ranks = static_cast<std::size_t>(P);
    return part_length(part_length(n, at, of), static_cast<std::size_t>(index % P), ranks);
  };
  std::vector<double> now(static_cast<std::size_t>(P), 0);
  for (int turn = 0; turn < stages + W - 1; ++turn) {
    const int first = std::max(0, turn - W + 1), last = std::min(stages - 1, turn);
    std::vector<double> after = now, reducing_s_of(now.size(), 0);
    for (int p = turn % W; p < P; p += W) {
      const auto self = static_cast<std::size_t>(p), next = static_cast<std::size_t>((p + 1) % P);
      std::size_t moved = 0;
      double reducing_s = 0;
      for (int k = first; k <= last; ++k)
        for (int channel = 0; channel < channels; ++channel) {
          const std::size_t length = chunk(channel, p - 1 - k + 2 * P);
          moved += length;
          if (k < P - 1) reducing_s += c.accumulate(length);
          if (k == P - 2 && average) reducing_s += c.scale(length);
        }
      const double ends = std::max(now[self], now[next]) + c.message(moved);
      after[self] = std::max(after[self], ends);
      after[next] = std::max(after[next], ends);
      reducing_s_of[next] = reducing_s;
    }
    for (std::size_t r = 0; r < now.size(); ++r) now[r] = after[r] + reducing_s_of[r];
  }
  return *std::max_element(now.begin(), now.end());
}

// Ranks beyond a power of two (Thakur, Rabenseifner and Gropp, IJHPCA 2005): one whole message and
// one addition before, one whole message after.
double recursive_doubling_allreduce_s(const CostModel& c, int P, std::size_t n, bool average) {
  const double round = c.message(n) + c.accumulate(n);
  const double fold = power_of_two(P) ? 0 : round + c.message(n);
  return fold + times(floor_log2(P), round) + (average ? c.scale(n) : 0);
}

// Rabenseifner (ICCS 2004): in round j the vector is halved to ceil(n / 2^j) on the side that has
// more; the longer half of a longest piece is again a longest piece. A pair's round lasts as long
// as its longer message, so both halves of a pair can go on along the longest chain.
double rabenseifner_allreduce_s(const CostModel& c, int P, std::size_t n, bool average) {
  double total = power_of_two(P) ? 0 : c.message(n) + c.accumulate(n) + c.message(n);
  std::size_t piece = n;
  for (int round = 0; round < floor_log2(P); ++round) {
    piece = ceil_div(piece, 2);
    total += 2 * c.message(piece) + c.accumulate(piece);
  }
  return total + (average ? c.scale(piece) : 0);
}

// For other than powers of two, an active rank stands for one or two parts of n / P; the halves
// differ by more than rounding, and the clocks of the ranks are followed instead.
double recursive_halving_reduce_scatter_s(const CostModel& c, int P, std::size_t n, bool average) {
  Clocks clocks(c, P, n);
  clocks.fold_in([&](int, int) { return n; }, true);
  clocks.halve();
  clocks.fold_out([&](int folded, int) { return clocks.part(folded); });
  if (average) clocks.scale_parts();
  return clocks.last();
}

double recursive_doubling_allgather_s(const CostModel& c, int P, std::size_t n) {
  Clocks clocks(c, P, n);
  clocks.fold_in([&](int folded, int) { return clocks.part(folded); }, false);
  clocks.double_up();
  clocks.fold_out([&](int, int) { return n; });
  return clocks.last();
}

// Binomial trees: a rank sends to its largest subtree first, and rank 1 hears last.
double binomial_broadcast_s(const CostModel& c, int P, std::size_t n) {
  return times(ceil_log2(P), c.message(n));
}

double binomial_reduce_s(const CostModel& c, int P, std::size_t n, bool average) {
  if (P == 1) return 0;
  return times(ceil_log2(P), c.message(n) + c.accumulate(n)) + (average ? c.scale(n) : 0);
}

// A chain of P - 1 hops. The rank at the end of hop h (from 1) receives segment i in one batch with
// what it sends on, segment i - 1 on hop h + 1. Once both are over, and it has computed on segment
// i, it begins the next batch.
static double chain_s(const CostModel& c, int P, std::size_t n, int segments, bool reduces) {
  const auto hops = static_cast<std::size_t>(P - 1), m = static_cast<std::size_t>(segments);
  // Hop 0 and the one after the last are nobody's.
  std::vector<std::vector<double>> done(m, std::vector<double>(hops + 2, 0)), ready = done;
  for (std::size_t i = 0; i < m; ++i) {
    const std::size_t length = part_length(n, i, m);
    for (std::size_t h = 1; h <= hops; ++h) {
      double start = ready[i][h - 1];
      if (i >= 1) start = std::max(start, ready[i - 1][h]);
      done[i][h] = start + c.message(length);
      const double sent = i >= 1 ? done[i - 1][h + 1] : 0;
      ready[i][h] = std::max(done[i][h], sent) + (reduces ? c.accumulate(length) : 0);
    }
  }
  return ready[m - 1][hops];
}

double pipelined_broadcast_s(const CostModel& c, int P, std::size_t n, int segments) {
  return P == 1 ? 0 : chain_s(c, P, n, segments, false);
}

double pipelined_reduce_s(const CostModel& c, int P, std::size_t n, int segments, bool average) {
  return P == 1 ? 0 : chain_s(c, P, n, segments, true) + (average ? c.scale(n) : 0);
}

// Pairwise exchange: P - 1 rounds, in each of which the receiver of a longest part receives one;
// its own part it copies.
double pairwise_alltoall_s(const CostModel& c, int P, std::size_t n) {
  const std::size_t part = ceil_div(n, P);
  return c.copy(part) + times(P - 1, c.message(part));
}

}  // namespace trigram::test
