#pragma once

#include "tests/oracles/algorithm_volume.h"

namespace trigram::test {

/// Every bucket is cut into the fewest parts of at most `partition` bytes. Part i, counted over all
/// buckets, belongs to server i modulo `servers`; the servers are on evenly spaced ranks. In every
/// step each worker sends every part to its server and receives as many bytes. If parts are
/// acknowledged, it receives a message of 112 bytes and sends one of 120 bytes in between. The
/// first `early` of 100 parts are counted in the order of buckets, the others from the last bucket
/// to the first. Servers beside the workers are at the ends of equal ranges of ranks and send no
/// parts.
Traffic parameter_server_volume(const Layout& layout, const Buckets& buckets, long steps,
                                std::uint64_t servers, std::uint64_t partition,
                                std::uint64_t early = 100, bool beside = false,
                                bool acknowledged = true);

/// The same with all parts in order, acknowledged and hierarchical. Each part is reduced inside the
/// nodes, pushed and pulled by the node leaders, over which the servers are spread evenly, and
/// broadcast inside the nodes.
Traffic parameter_server_by_nodes_volume(const Layout& layout, const Buckets& buckets, long steps,
                                         std::uint64_t servers, std::uint64_t partition);

/// A part of a bucket: its number of elements, and its server.
struct HashedPart {
  std::uint64_t numel, server;
};
/// BytePS's assignment. Every bucket is cut into parts of `partition` bytes, of which the last may
/// be shorter. Part p of the bucket with number d has the key 65536 d + p. Bernstein's hash of the
/// key's decimal digits gives its server. Buckets are numbered from the last to the first.
std::vector<HashedPart> hashed_parts(const Buckets& buckets, std::uint64_t servers,
                                     std::uint64_t partition);

/// The volumes for these parts, which are acknowledged. With hierarchy, leaders push and pull as
/// above.
Traffic hashed_parameter_server_volume(const Layout& layout, const Buckets& buckets, long steps,
                                       std::uint64_t servers, std::uint64_t partition,
                                       bool beside = false);
Traffic hashed_parameter_server_by_nodes_volume(const Layout& layout, const Buckets& buckets,
                                                long steps, std::uint64_t servers,
                                                std::uint64_t partition);

/// In every step each worker sends its change of each shard to the shard's server, and receives as
/// many weights. Both take coded(n) bytes for n elements. At the end each server sends its shard to
/// all workers.
Traffic async_parameter_server_volume(const Layout& layout, std::uint64_t model, long steps,
                                      std::uint64_t servers,
                                      const std::function<std::uint64_t(std::uint64_t)>& coded);

/// The same with a push in every step, and a pull in every step except the last. The last step ends
/// with the shards of all servers.
Traffic ssp_volume(const Layout& layout, std::uint64_t model, long steps, std::uint64_t servers,
                   const std::function<std::uint64_t(std::uint64_t)>& coded);

}  // namespace trigram::test
