#include "tests/oracles/algorithm_volume.h"

#include <numeric>
#include <stdexcept>

#include "tests/oracles/closed_forms.h"

namespace trigram::test {
namespace {

VolumeOfExchange by_allreduce(const std::string& algorithm) {
  return [algorithm](Traffic& traffic, const Members& members, std::uint64_t n) {
    add_allreduce(traffic, members, n, algorithm);
  };
}

}  // namespace

std::uint64_t model_size(const Buckets& buckets) {
  return std::accumulate(buckets.begin(), buckets.end(), std::uint64_t{0});
}

Traffic bucket_volume(const Layout& layout, const Buckets& buckets, long steps, bool hierarchical,
                      const VolumeOfExchange& exchange) {
  Traffic traffic(layout);
  for (long t = 0; t < steps; ++t)
    for (const std::uint64_t n : buckets) add_exchange(traffic, n, hierarchical, exchange);
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
    if (mode == "all")
      add_exchange(traffic, model_size(buckets), hierarchical, by_allreduce(allreduce));
    else if (mode == "shift_one")
      add_exchange(traffic, model_size(buckets), hierarchical, shift_one);
    else if (mode == "ring")
      add_exchange(traffic, model_size(buckets), hierarchical, add_ring_mixing);
    else throw std::invalid_argument("no formula for mode " + mode);
  }
  return traffic;
}

Traffic async_model_average_volume(const Layout& layout, const Buckets& buckets, long warmup_steps,
                                   long rounds, const std::string& allreduce) {
  Traffic traffic = gradient_allreduce_volume(layout, buckets, warmup_steps, allreduce, false);
  for (long round = 0; round < rounds; ++round)
    add_exchange(traffic, model_size(buckets), false, by_allreduce(allreduce));
  return traffic;
}

namespace {

/// The groups of a step. The bits of a rank's number fall into two sets, which change with the
/// step: ranks of a group agree in one set and are numbered by the other.
std::vector<Members> groups_of(int P, int S, long step) {
  const long bits = ceil_log2(P), own_bits = ceil_log2(S);
  std::vector<Members> groups(static_cast<std::size_t>(P));
  for (int rank = 0; rank < P; ++rank) {
    int member = 0, group_bits = rank;
    for (long k = 0; k < own_bits; ++k) {
      const int bit = 1 << ((step * own_bits + k) % bits);
      if (rank & bit) member |= 1 << k;
      group_bits &= ~bit;
    }
    auto& group = groups[static_cast<std::size_t>(group_bits)];
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
    add_allreduce(traffic, all_ranks(layout), model_size(buckets), allreduce);
  return traffic;
}

Traffic wagma_volume(const Layout& layout, const Buckets& buckets, long steps, long tau,
                     int group_size, const std::string& in_group, const std::string& allreduce) {
  Traffic traffic(layout);
  add_wagma_volume(traffic, model_size(buckets), steps, tau, group_size, in_group, allreduce);
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
