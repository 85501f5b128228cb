#include "tests/oracles/server_volume.h"

#include <algorithm>
#include <string>

#include "tests/oracles/clocks.h"

namespace trigram::test {
namespace {

/// Counts the messages, each `times` times, of a worker that pushes a part, receives the
/// acknowledgement, requests the mean and receives it.
void push_and_pull(Traffic& traffic, int worker, int server, std::uint64_t times,
                   std::uint64_t bytes, bool acknowledged = true) {
  traffic.send(worker, server, times, times * bytes);
  if (acknowledged) {
    traffic.send(server, worker, times, times * 112);
    traffic.send(worker, server, times, times * 120);
  }
  traffic.send(server, worker, times, times * bytes);
}

/// The ranks of servers on evenly spaced ranks or, if `beside`, at the ends of equal ranges of
/// ranks.
std::vector<int> server_ranks(const Layout& layout, std::uint64_t servers, bool beside) {
  const auto P = static_cast<std::uint64_t>(layout.ranks());
  std::vector<int> ranks;
  for (std::uint64_t s = 0; s < servers; ++s)
    ranks.push_back(
        static_cast<int>(beside ? ((s + 1) * P + servers - 1) / servers - 1 : s * P / servers));
  return ranks;
}

/// Counts a part of `bytes` bytes that all workers push to `server`, and pull, in every step.
/// `servers` are the ranks of all servers, which are not workers if `beside`.
void add_part(Traffic& traffic, const std::vector<int>& servers, int server, bool beside,
              long steps, std::uint64_t bytes, bool acknowledged = true) {
  for (const int worker : all_ranks(traffic.layout())) {
    const bool serves = std::ranges::find(servers, worker) != servers.end();
    if (worker == server || (beside && serves)) continue;
    push_and_pull(traffic, worker, server, static_cast<std::uint64_t>(steps), bytes, acknowledged);
  }
}

/// Counts a part of n elements that the node leaders push to server number `server`, and pull. The
/// servers are spread evenly over the leaders.
void add_part_by_nodes(Traffic& traffic, std::uint64_t n, std::uint64_t server,
                       std::uint64_t servers) {
  add_hierarchical(traffic, n, [&](Traffic& sum, const Members& leaders, std::uint64_t m) {
    const int rank = leaders[server * leaders.size() / servers];
    for (const int leader : leaders)
      if (leader != rank) push_and_pull(sum, leader, rank, 1, 4 * m);
  });
}

/// Calls visit(worker, server, n) for each of the model's shards, of n elements, and each rank
/// except the shard's server.
template <class Visit>
void for_each_shard(const Layout& layout, std::uint64_t model, std::uint64_t servers,
                    const Visit& visit) {
  const std::vector<int> ranks = server_ranks(layout, servers, false);
  for (std::uint64_t shard = 0; shard < servers; ++shard)
    for (const int worker : all_ranks(layout))
      if (worker != ranks[shard]) visit(worker, ranks[shard], part_length(model, shard, servers));
}

/// The number of parts of at most `partition` bytes into which n elements are cut.
std::uint64_t part_count(std::uint64_t n, std::uint64_t partition) {
  return (4 * n + partition - 1) / partition;
}

}  // namespace

Traffic parameter_server_volume(const Layout& layout, const Buckets& buckets, long steps,
                                std::uint64_t servers, std::uint64_t partition, std::uint64_t early,
                                bool beside, bool acknowledged) {
  std::vector<std::vector<std::uint64_t>> parts;  // bytes of the parts of each bucket
  std::uint64_t count = 0;
  for (const std::uint64_t n : buckets) {
    const std::uint64_t in_bucket = part_count(n, partition);
    auto& bytes = parts.emplace_back();
    for (std::uint64_t i = 0; i < in_bucket; ++i) bytes.push_back(4 * part_length(n, i, in_bucket));
    count += in_bucket;
  }
  std::vector<std::uint64_t> order;
  for (auto& bytes : parts)
    while (!bytes.empty() && 100 * order.size() < early * count) {
      order.push_back(bytes.front());
      bytes.erase(bytes.begin());
    }
  for (auto bytes = parts.rbegin(); bytes != parts.rend(); ++bytes)
    order.insert(order.end(), bytes->begin(), bytes->end());
  Traffic traffic(layout);
  const std::vector<int> ranks = server_ranks(layout, servers, beside);
  for (std::uint64_t part = 0; part < count; ++part)
    add_part(traffic, ranks, ranks[part % servers], beside, steps, order[part], acknowledged);
  return traffic;
}

Traffic parameter_server_by_nodes_volume(const Layout& layout, const Buckets& buckets, long steps,
                                         std::uint64_t servers, std::uint64_t partition) {
  Traffic traffic(layout);
  for (long t = 0; t < steps; ++t) {
    std::uint64_t part = 0;
    for (const std::uint64_t n : buckets) {
      const std::uint64_t count = part_count(n, partition);
      for (std::uint64_t i = 0; i < count; ++i, ++part)
        add_part_by_nodes(traffic, part_length(n, i, count), part % servers, servers);
    }
  }
  return traffic;
}

std::vector<HashedPart> hashed_parts(const Buckets& buckets, std::uint64_t servers,
                                     std::uint64_t partition) {
  std::vector<HashedPart> parts;
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    const std::uint64_t longest = partition / 4;
    std::uint64_t left = buckets[b], key = (buckets.size() - 1 - b) * 65536;
    for (; left > 0; left -= std::min(left, longest), ++key) {
      std::uint64_t hash = 5381;
      for (const char c : std::to_string(key))
        hash = (hash << 5) + hash + static_cast<std::uint64_t>(c);
      parts.push_back({std::min(left, longest), hash % servers});
    }
  }
  return parts;
}

Traffic hashed_parameter_server_volume(const Layout& layout, const Buckets& buckets, long steps,
                                       std::uint64_t servers, std::uint64_t partition,
                                       bool beside) {
  Traffic traffic(layout);
  const std::vector<int> ranks = server_ranks(layout, servers, beside);
  for (const HashedPart& part : hashed_parts(buckets, servers, partition))
    add_part(traffic, ranks, ranks[part.server], beside, steps, 4 * part.numel);
  return traffic;
}

Traffic hashed_parameter_server_by_nodes_volume(const Layout& layout, const Buckets& buckets,
                                                long steps, std::uint64_t servers,
                                                std::uint64_t partition) {
  Traffic traffic(layout);
  for (long t = 0; t < steps; ++t)
    for (const HashedPart& part : hashed_parts(buckets, servers, partition))
      add_part_by_nodes(traffic, part.numel, part.server, servers);
  return traffic;
}

Traffic async_parameter_server_volume(const Layout& layout, std::uint64_t model, long steps,
                                      std::uint64_t servers, const CodeBytes& coded) {
  Traffic traffic(layout);
  const auto messages = static_cast<std::uint64_t>(steps);
  for_each_shard(layout, model, servers, [&](int worker, int server, std::uint64_t n) {
    traffic.send(worker, server, messages, messages * coded(n));
    traffic.send(server, worker, messages, messages * coded(n));
    traffic.send(server, worker, 1, 4 * n);
  });
  return traffic;
}

Traffic ssp_volume(const Layout& layout, std::uint64_t model, long steps, std::uint64_t servers,
                   const CodeBytes& coded) {
  Traffic traffic(layout);
  for_each_shard(layout, model, servers, [&](int worker, int server, std::uint64_t n) {
    for (long t = 0; t < steps; ++t) {
      traffic.send(worker, server, 1, coded(n));
      traffic.send(server, worker, 1, t + 1 < steps ? coded(n) : 4 * n);
    }
  });
  return traffic;
}

}  // namespace trigram::test
