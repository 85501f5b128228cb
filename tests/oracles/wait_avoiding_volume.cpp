#include "tests/oracles/wait_avoiding_volume.h"

#include <numeric>

namespace trigram::test {
namespace {

std::uint64_t model(const Buckets& buckets) {
  return std::accumulate(buckets.begin(), buckets.end(), std::uint64_t{0});
}

long log2(long n) {
  long log = 0;
  while ((1L << log) < n) ++log;
  return log;
}

/// The groups of a step. A group's number consists of the bits that distinguish groups; the other
/// bits number its members.
std::vector<Members> groups_of(int P, int S, long step) {
  const long bits = log2(P), own_bits = log2(S);
  std::vector<Members> groups;
  for (int rank = 0; rank < P; ++rank) {
    int member = 0, others = rank;
    for (long k = 0; k < own_bits; ++k) {
      const int bit = 1 << ((step * own_bits + k) % bits);
      if (rank & bit) member |= 1 << k;
      others &= ~bit;
    }
    groups.resize(static_cast<std::size_t>(P));
    auto& group = groups[static_cast<std::size_t>(others)];
    group.resize(static_cast<std::size_t>(S));
    group[static_cast<std::size_t>(member)] = rank;
  }
  std::erase_if(groups, [](const Members& g) { return g.empty(); });
  return groups;
}

}  // namespace

Traffic eager_sgd_volume(const Layout& layout, const Buckets& buckets, long steps, long sync_every,
                         const std::string& allreduce) {
  Traffic traffic(layout);
  const long averages = sync_every > 0 ? steps / sync_every : 0;
  for (long i = 0; i < steps + averages; ++i)
    add_allreduce(traffic, all_ranks(layout), model(buckets), allreduce);
  return traffic;
}

Traffic wagma_volume(const Layout& layout, const Buckets& buckets, long steps, long tau,
                     int group_size, const std::string& in_group, const std::string& allreduce) {
  Traffic traffic(layout);
  add_wagma_volume(traffic, model(buckets), steps, tau, group_size, in_group, allreduce);
  return traffic;
}

void add_wagma_volume(Traffic& traffic, std::uint64_t n, long steps, long tau, int group_size,
                      const std::string& in_group, const std::string& allreduce) {
  const Layout& layout = traffic.layout();
  for (long t = 0; t < steps; ++t) {
    if (t % tau == tau - 1) {
      add_allreduce(traffic, all_ranks(layout), n, allreduce);
      continue;
    }
    for (const Members& group : groups_of(layout.ranks(), group_size, t))
      if (in_group == "coded") add_code_allgather(traffic, group, n, coded_bytes);
      else add_allreduce(traffic, group, n, in_group);
  }
}

}  // namespace trigram::test
