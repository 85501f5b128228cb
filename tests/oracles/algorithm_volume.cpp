#include "tests/oracles/algorithm_volume.h"

#include <numeric>
#include <stdexcept>

namespace trigram::test {
namespace {

std::uint64_t model(const Buckets& buckets) {
  return std::accumulate(buckets.begin(), buckets.end(), std::uint64_t{0});
}

VolumeOfExchange by_allreduce(const std::string& algorithm) {
  return [algorithm](Traffic& traffic, const Members& members, std::uint64_t n) {
    add_allreduce(traffic, members, n, algorithm);
  };
}

void add(Traffic& traffic, std::uint64_t n, bool hierarchical, const VolumeOfExchange& exchange) {
  if (hierarchical) add_hierarchical(traffic, n, exchange);
  else exchange(traffic, all_ranks(traffic.layout()), n);
}

}  // namespace

Traffic bucket_volume(const Layout& layout, const Buckets& buckets, long steps, bool hierarchical,
                      const VolumeOfExchange& exchange) {
  Traffic traffic(layout);
  for (long t = 0; t < steps; ++t)
    for (const std::uint64_t n : buckets) add(traffic, n, hierarchical, exchange);
  return traffic;
}

Traffic gradient_allreduce_volume(const Layout& layout, const Buckets& buckets, long steps,
                                  const std::string& allreduce, bool hierarchical) {
  return bucket_volume(layout, buckets, steps, hierarchical, by_allreduce(allreduce));
}

Traffic bytegrad_volume(const Layout& layout, const Buckets& buckets, long steps, bool hierarchical,
                        const std::string& phase2) {
  return bucket_volume(layout, buckets, steps, hierarchical,
                       [&](Traffic& traffic, const Members& members, std::uint64_t n) {
                         add_compressed_scatter_reduce(traffic, members, n, coded_bytes, phase2);
                       });
}

Traffic decentralized_volume(const Layout& layout, const Buckets& buckets, long steps,
                             const std::string& mode, const std::string& allreduce,
                             bool hierarchical) {
  Traffic traffic(layout);
  for (long t = 0; t < steps; ++t) {
    const auto shift_one = [t](Traffic& sum, const Members& members, std::uint64_t n) {
      add_shift_one(sum, members, n, t);
    };
    if (mode == "all") add(traffic, model(buckets), hierarchical, by_allreduce(allreduce));
    else if (mode == "shift_one") add(traffic, model(buckets), hierarchical, shift_one);
    else if (mode == "ring") add(traffic, model(buckets), hierarchical, add_ring_mixing);
    else throw std::invalid_argument("no formula for mode " + mode);
  }
  return traffic;
}

Traffic async_model_average_volume(const Layout& layout, const Buckets& buckets, long warmup_steps,
                                   long rounds, const std::string& allreduce) {
  Traffic traffic = gradient_allreduce_volume(layout, buckets, warmup_steps, allreduce, false);
  for (long round = 0; round < rounds; ++round)
    add(traffic, model(buckets), false, by_allreduce(allreduce));
  return traffic;
}

namespace {

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
