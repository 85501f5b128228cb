#include "algorithms/peers/random_pairs.h"

#include "algorithms/peers/registry.h"
#include "core/random/philox.h"

namespace trigram {
namespace {

/// A geometrically distributed number of steps, cut off at `most`.
long draw_interval(std::uint64_t seed, long round, std::int64_t mean, long most) {
  Philox draw(seed, 1, round, Purpose::peers);  // the draws of rank 0 are those of the matchings
  long steps = 1;
  while (steps < most && draw.below(static_cast<std::uint32_t>(mean)) != 0) ++steps;
  return steps;
}

}  // namespace

RandomPairs::RandomPairs(std::uint64_t seed, Interval interval, std::int64_t mean_interval,
                         long steps)
    : pairs_(make_peer_graph({"random_matching"}, seed)) {
  for (long made = 0;;) {
    made += interval == Interval::fixed
                ? mean_interval
                : draw_interval(seed, count(), mean_interval, steps - made + 1);
    if (made > steps) return;
    due_.push_back(made - 1);
  }
}

}  // namespace trigram
