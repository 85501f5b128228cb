#pragma once

#include <cstddef>
#include <vector>

#include "tests/support/weight_vectors.h"

namespace trigram::test {

inline void add(float a, const Vector& x, Vector& sum) {
  for (std::size_t i = 0; i < x.size(); ++i) sum[i] += a * x[i];
}

/// One shard of a model on a server among the workers: the server's weights, which are 1 at first,
/// and its state for every worker.
struct ServerShard {
  std::size_t begin, end, server;
  Vector weights;
  Vectors seen, error;  // by worker
};

/// Nearly equal shards; the servers are spread evenly over the ranks.
inline std::vector<ServerShard> server_shards(std::size_t servers, std::size_t ranks,
                                              std::size_t numel) {
  std::vector<ServerShard> shards;
  for (std::size_t s = 0; s < servers; ++s) {
    const std::size_t begin = numel * s / servers, end = numel * (s + 1) / servers;
    const Vector ones(end - begin, 1), zeros(end - begin, 0);
    shards.push_back(
        {begin, end, s * ranks / servers, ones, Vectors(ranks, ones), Vectors(ranks, zeros)});
  }
  return shards;
}

}  // namespace trigram::test
