#include "tests/oracles/server_volume.h"

#include <algorithm>
#include <sstream>

namespace trigram::test {
namespace {

/// Counts, `times` times, the messages of a worker that pushes a part, receives the
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

}  // namespace

Traffic parameter_server_volume(const Layout& layout, const Buckets& buckets, long steps,
                                std::uint64_t servers, std::uint64_t partition, std::uint64_t early,
                                bool beside, bool acknowledged) {
  Traffic traffic(layout);
  const auto P = static_cast<std::uint64_t>(layout.ranks());
  const auto messages = static_cast<std::uint64_t>(steps);
  std::vector<std::vector<std::uint64_t>> parts;  // bytes of the parts of each bucket
  std::uint64_t count = 0;
  for (const std::uint64_t n : buckets) {
    const std::uint64_t of = (4 * n + partition - 1) / partition;
    auto& bytes = parts.emplace_back();
    for (std::uint64_t i = 0; i < of; ++i) bytes.push_back(4 * (n * (i + 1) / of - n * i / of));
    count += of;
  }
  std::vector<std::uint64_t> order;
  for (auto& bytes : parts)
    while (!bytes.empty() && 100 * order.size() < early * count) {
      order.push_back(bytes.front());
      bytes.erase(bytes.begin());
    }
  for (auto bytes = parts.rbegin(); bytes != parts.rend(); ++bytes)
    order.insert(order.end(), bytes->begin(), bytes->end());
  std::vector<int> serving;
  for (std::uint64_t s = 0; s < servers; ++s)
    serving.push_back(
        static_cast<int>(beside ? ((s + 1) * P + servers - 1) / servers - 1 : s * P / servers));
  for (std::uint64_t part = 0; part < count; ++part) {
    const int server = serving[part % servers];
    for (int worker : all_ranks(layout)) {
      if (worker == server || (beside && std::count(serving.begin(), serving.end(), worker) > 0))
        continue;
      push_and_pull(traffic, worker, server, messages, order[part], acknowledged);
    }
  }
  return traffic;
}

Traffic parameter_server_by_nodes_volume(const Layout& layout, const Buckets& buckets, long steps,
                                         std::uint64_t servers, std::uint64_t partition) {
  Traffic traffic(layout);
  for (long t = 0; t < steps; ++t) {
    std::uint64_t part = 0;
    for (const std::uint64_t n : buckets) {
      const std::uint64_t of = (4 * n + partition - 1) / partition;
      for (std::uint64_t i = 0; i < of; ++i, ++part)
        add_hierarchical(traffic, n * (i + 1) / of - n * i / of,
                         [&](Traffic& sum, const Members& leaders, std::uint64_t m) {
                           const int server = leaders[part % servers * leaders.size() / servers];
                           for (const int leader : leaders) {
                             if (leader != server) push_and_pull(sum, leader, server, 1, 4 * m);
                           }
                         });
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
      std::ostringstream digits;
      digits << key;
      std::uint64_t hash = 5381;
      for (const char c : digits.str()) hash = (hash << 5) + hash + static_cast<std::uint64_t>(c);
      parts.push_back({std::min(left, longest), hash % servers});
    }
  }
  return parts;
}

Traffic hashed_parameter_server_volume(const Layout& layout, const Buckets& buckets, long steps,
                                       std::uint64_t servers, std::uint64_t partition,
                                       bool beside) {
  Traffic traffic(layout);
  const auto P = static_cast<std::uint64_t>(layout.ranks());
  const auto messages = static_cast<std::uint64_t>(steps);
  const auto rank_of = [&](std::uint64_t s) {
    return static_cast<int>(beside ? ((s + 1) * P + servers - 1) / servers - 1 : s * P / servers);
  };
  for (const HashedPart& part : hashed_parts(buckets, servers, partition))
    for (const int worker : all_ranks(layout)) {
      bool serves = false;
      for (std::uint64_t s = 0; s < servers; ++s) serves = serves || rank_of(s) == worker;
      const int server = rank_of(part.server);
      if (worker == server || (beside && serves)) continue;
      push_and_pull(traffic, worker, server, messages, 4 * part.numel);
    }
  return traffic;
}

Traffic hashed_parameter_server_by_nodes_volume(const Layout& layout, const Buckets& buckets,
                                                long steps, std::uint64_t servers,
                                                std::uint64_t partition) {
  Traffic traffic(layout);
  for (long t = 0; t < steps; ++t)
    for (const HashedPart& part : hashed_parts(buckets, servers, partition))
      add_hierarchical(traffic, part.numel,
                       [&](Traffic& sum, const Members& leaders, std::uint64_t n) {
                         const int server = leaders[part.server * leaders.size() / servers];
                         for (const int leader : leaders) {
                           if (leader != server) push_and_pull(sum, leader, server, 1, 4 * n);
                         }
                       });
  return traffic;
}

Traffic async_parameter_server_volume(const Layout& layout, std::uint64_t model, long steps,
                                      std::uint64_t servers,
                                      const std::function<std::uint64_t(std::uint64_t)>& coded) {
  Traffic traffic(layout);
  const auto P = static_cast<std::uint64_t>(layout.ranks());
  const auto messages = static_cast<std::uint64_t>(steps);
  for (std::uint64_t shard = 0; shard < servers; ++shard) {
    const auto server = static_cast<int>(shard * P / servers);
    const std::uint64_t n = model * (shard + 1) / servers - model * shard / servers;
    for (int worker : all_ranks(layout)) {
      if (worker == server) continue;
      traffic.send(worker, server, messages, messages * coded(n));
      traffic.send(server, worker, messages, messages * coded(n));
      traffic.send(server, worker, 1, 4 * n);
    }
  }
  return traffic;
}

Traffic ssp_volume(const Layout& layout, std::uint64_t model, long steps, std::uint64_t servers,
                   const std::function<std::uint64_t(std::uint64_t)>& coded) {
  Traffic traffic(layout);
  const auto P = static_cast<std::uint64_t>(layout.ranks());
  for (std::uint64_t shard = 0; shard < servers; ++shard) {
    const auto server = static_cast<int>(shard * P / servers);
    const std::uint64_t n = model * (shard + 1) / servers - model * shard / servers;
    for (int worker : all_ranks(layout)) {
      if (worker == server) continue;
      for (long t = 0; t < steps; ++t) {
        traffic.send(worker, server, 1, coded(n));
        traffic.send(server, worker, 1, t + 1 < steps ? coded(n) : 4 * n);
      }
    }
  }
  return traffic;
}

}  // namespace trigram::test
