#include "tests/oracles/server_volume.h"

#include <algorithm>

namespace trigram::test {

Traffic parameter_server_volume(const Layout& layout, const Buckets& buckets, long steps,
                                std::uint64_t servers, std::uint64_t partition, std::uint64_t early,
                                bool beside) {
  Traffic traffic(layout);
  const auto P = static_cast<std::uint64_t>(layout.ranks());
  const auto messages = static_cast<std::uint64_t>(steps);
  std::vector<std::vector<std::uint64_t>> parts;  // bytes, bucket by bucket
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
      traffic.send(worker, server, messages, messages * order[part]);
      traffic.send(server, worker, messages, messages * order[part]);
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
                             if (leader == server) continue;
                             sum.send(leader, server, 1, 4 * m);
                             sum.send(server, leader, 1, 4 * m);
                           }
                         });
    }
  }
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
