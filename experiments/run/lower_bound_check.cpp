#include "experiments/run/lower_bound_check.h"

#include <algorithm>
#include <vector>

#include "core/check.h"
#include "netmodels/cluster_network.h"
#include "netmodels/network/lower_bound.h"

namespace trigram {

double lower_bound(const Cluster& cluster, std::span<const Counters> arrived,
                   std::span<const RankResult> ranks) {
  std::vector<Traffic> traffic;
  for (const Counters& rank : arrived)
    traffic.push_back(
        {rank.bytes_intra, rank.bytes_inter, rank.messages_intra, rank.messages_inter});
  double first_s = ranks.front().began_s, last_s = 0;
  for (const RankResult& rank : ranks) {
    first_s = std::min(first_s, rank.began_s);
    if (rank.trains) last_s = std::max(last_s, rank.began_s);
  }
  const double end_s =
      lower_bound(*make_network(cluster), std::span<const Traffic>(traffic), first_s);
  return std::max(0.0, end_s - last_s);
}

void check_lower_bound(double time_s, double bound_s) {
  constexpr double kRounding = 1e-9;
  TRIGRAM_CHECK(time_s >= bound_s * (1 - kRounding),
                "the simulated steps took {} s, but what arrived in them takes at least {} s",
                time_s, bound_s);
}

}  // namespace trigram
