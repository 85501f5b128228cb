#pragma once

#include "tests/oracles/algorithm_volume.h"

namespace trigram::test {

/// Every bucket is cut into the fewest parts of at most `partition` bytes. Part i, counted over all
/// buckets, belongs to server i modulo `servers`. The first `early` percent of the parts are
/// counted in the order of buckets, the remaining parts from the last bucket to the first.
///
/// In every step each worker sends every part to its server and receives as many bytes. If parts
/// are acknowledged, the worker in between receives an acknowledgement of 112 bytes and sends a
/// request of 120 bytes. The servers are on evenly spaced ranks. If `beside`, they are no workers,
/// and are at the ends of equal ranges of ranks.
Traffic parameter_server_volume(const Layout& layout, const Buckets& buckets, long steps,
                                std::uint64_t servers, std::uint64_t partition,
                                std::uint64_t early = 100, bool beside = false,
                                bool acknowledged = true);

/// The same with a hierarchy, `early` = 100 and acknowledgements. Each part is reduced inside the
/// nodes, pushed and pulled by the node leaders, and broadcast inside the nodes. The servers are
/// spread evenly over the node leaders.
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

/// The volumes for these parts, with acknowledgements.
Traffic hashed_parameter_server_volume(const Layout& layout, const Buckets& buckets, long steps,
                                       std::uint64_t servers, std::uint64_t partition,
                                       bool beside = false);
Traffic hashed_parameter_server_by_nodes_volume(const Layout& layout, const Buckets& buckets,
                                                long steps, std::uint64_t servers,
                                                std::uint64_t partition);

/// In every step each worker sends its update of each shard to the shard's server, and receives the
/// shard's weights. Both messages have coded(n) bytes for n elements. At the end each server sends
/// its shard to all workers.
Traffic async_parameter_server_volume(const Layout& layout, std::uint64_t model, long steps,
                                      std::uint64_t servers, const CodeBytes& coded);

/// The same, except that the answers of the last step have full precision, and no shards are sent
/// after it.
Traffic ssp_volume(const Layout& layout, std::uint64_t model, long steps, std::uint64_t servers,
                   const CodeBytes& coded);

}  // namespace trigram::test
