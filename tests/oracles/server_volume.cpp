#include "tests/oracles/server_volume.h"

namespace trigram::test {

Traffic parameter_server_volume(const Layout& layout, const Buckets& buckets, long steps,
                                std::uint64_t servers, std::uint64_t partition) {
  Traffic traffic(layout);
  const auto P = static_cast<std::uint64_t>(layout.ranks());
  const auto messages = static_cast<std::uint64_t>(steps);
  std::uint64_t part = 0;
  for (const std::uint64_t n : buckets) {
    std::uint64_t parts = 4 * n / partition;
    if (parts * partition < 4 * n) ++parts;
    for (std::uint64_t i = 0; i < parts; ++i, ++part) {
      const std::uint64_t bytes = 4 * (n * (i + 1) / parts - n * i / parts);
      const auto server = static_cast<int>(part % servers * P / servers);
      for (int worker : all_ranks(layout)) {
        if (worker == server) continue;
        traffic.send(worker, server, messages, messages * bytes);
        traffic.send(server, worker, messages, messages * bytes);
      }
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

}  // namespace trigram::test
