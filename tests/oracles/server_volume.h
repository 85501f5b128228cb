#pragma once

#include "tests/oracles/algorithm_volume.h"

namespace trigram::test {

/// Every bucket is cut into the fewest parts of at most `partition` bytes. Part i, counted over all
/// buckets, belongs to server i modulo `servers`, which sit on evenly spaced ranks. In every step
/// each worker sends every part to its server, and gets as much back. Between the two,
/// acknowledged, it gets a message of 112 bytes and sends one of 120. Parts are counted by bucket;
/// but where only the first `early` of 100 parts are early, the others by bucket from the last.
/// Servers beside the workers sit at the ends of the ranks' equal shares and send no part.
Traffic parameter_server_volume(const Layout& layout, const Buckets& buckets, long steps,
                                std::uint64_t servers, std::uint64_t partition,
                                std::uint64_t early = 100, bool beside = false,
                                bool acknowledged = true);

/// The same in order, acknowledged and hierarchical: each part is reduced inside the nodes, pushed
/// and pulled by their leaders, among whom the servers are spread evenly, and broadcast inside the
/// nodes.
Traffic parameter_server_by_nodes_volume(const Layout& layout, const Buckets& buckets, long steps,
                                         std::uint64_t servers, std::uint64_t partition);

/// A part of a bucket, of so many elements, and the server that has it.
struct HashedPart {
  std::uint64_t numel, server;
};
/// BytePS's way: every bucket in parts of `partition` bytes, the last of it shorter. Part p of the
/// bucket declared as number d has the key 65536 d + p, and goes to the server that Bernstein's
/// hash of the key in decimal says. Buckets are declared from the last to the first.
std::vector<HashedPart> hashed_parts(const Buckets& buckets, std::uint64_t servers,
                                     std::uint64_t partition);

/// Volumes of these parts, acknowledged; by nodes, leaders push and pull as above.
Traffic hashed_parameter_server_volume(const Layout& layout, const Buckets& buckets, long steps,
                                       std::uint64_t servers, std::uint64_t partition,
                                       bool beside = false);
Traffic hashed_parameter_server_by_nodes_volume(const Layout& layout, const Buckets& buckets,
                                                long steps, std::uint64_t servers,
                                                std::uint64_t partition);

/// In every step each worker hands its change of each server's shard to it and gets as many weights
/// back, both of coded(n) bytes for n elements; at the end each server sends its shard to all.
Traffic async_parameter_server_volume(const Layout& layout, std::uint64_t model, long steps,
                                      std::uint64_t servers,
                                      const std::function<std::uint64_t(std::uint64_t)>& coded);

/// The same with a push in every step and a pull in every step but the last, which ends with the
/// shards of all servers.
Traffic ssp_volume(const Layout& layout, std::uint64_t model, long steps, std::uint64_t servers,
                   const std::function<std::uint64_t(std::uint64_t)>& coded);

}  // namespace trigram::test
