#include "tests/oracles/network_formulas.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace trigram::test {
namespace {

/// The longest transfer time of the given loads, which are pairs of a number of messages and a
/// bandwidth.
double longest_s(double bytes, std::initializer_list<std::pair<double, double>> loads) {
  double seconds = 0;
  for (const auto& [messages, Bps] : loads) seconds = std::max(seconds, messages * bytes / Bps);
  return seconds;
}

}  // namespace

// Zahavi 2010. With D-mod-k, a link down carries messages to only one destination, from all nodes
// except those below the link: N - 1 messages at a node, N - k/2 above an edge switch, N - k^2/4
// above a pod. A link up carries messages of the k/2 (or k^2/4) nodes below it, to the nodes with
// one number per edge switch (or per pod). This gives the same counts.
double fat_tree_all_to_all_s(int k, double bytes, const NetworkRates& rates) {
  const double N = k * k * k / 4.0, half = k / 2.0;
  return longest_s(
      bytes,
      {{N - 1, rates.nic_Bps}, {N - half, rates.link_Bps}, {N - half * half, rates.link_Bps}});
}

// A leaf has m nodes and s = m / taper links up. Link i carries the messages of all m nodes to the
// destinations outside of the leaf whose number is i modulo s, which are (N - m) / s destinations.
double leaves_all_to_all_s(int nodes, int per_leaf, int taper, double bytes,
                           const NetworkRates& rates) {
  const double N = nodes, m = per_leaf, s = m / taper;
  return longest_s(bytes, {{N - 1, rates.nic_Bps}, {m * (N - m) / s, rates.link_Bps}});
}

// Dally and Towles 2004, chapter 5. On a ring of q positions, each position sends one message over
// d links in each direction, for every d below q / 2. Messages that go half way around go up from
// even positions and down from odd positions, so a link carries half of the q / 2 such messages
// that could cross it. On a torus, a link of a ring carries these messages once for each choice of
// the other coordinates (the source's later and the destination's earlier ones), that is, N / q
// times.
double torus_all_to_all_s(const std::vector<int>& dimensions, double bytes,
                          const NetworkRates& rates) {
  const double N = std::accumulate(dimensions.begin(), dimensions.end(), 1.0, std::multiplies<>());
  double seconds = (N - 1) * bytes / rates.nic_Bps;
  for (const int q : dimensions) {
    const int below = (q - 1) / 2;
    const double half_way = q % 2 == 0 ? (q + 3) / 4 : 0;
    seconds =
        std::max(seconds, N / q * (below * (below + 1) / 2.0 + half_way) * bytes / rates.link_Bps);
  }
  return seconds;
}

// Kim et al. 2008. One link connects any two groups and carries all (p a)^2 messages between them.
// A link inside a group carries three kinds of messages: the p^2 messages between the nodes of its
// two routers, the p h p a messages from its first router to the h groups to which its second
// router connects, and as many messages in return.
double dragonfly_all_to_all_s(int p, int a, int h, double bytes, const NetworkRates& rates,
                              double global_Bps) {
  const double group = p * a, N = group * (a * h + 1);
  return longest_s(bytes, {{N - 1, rates.nic_Bps},
                           {p * p + 2 * p * h * group, rates.link_Bps},
                           {group * group, global_Bps}});
}

double bisection_all_to_all_s(int nodes, double bytes, double bisection_Bps) {
  return nodes / 2.0 * nodes / 2.0 * bytes / bisection_Bps;
}

}  // namespace trigram::test
