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

}  // namespace trigram::test
