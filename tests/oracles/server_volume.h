#pragma once

#include "tests/oracles/algorithm_volume.h"

namespace trigram::test {

/// Every bucket is cut into the fewest parts of at most `partition` bytes. Part i, counted over all
/// buckets, belongs to server i modulo `servers`; the servers are on evenly spaced ranks. In every
/// step each worker sends every part to its server and receives as many bytes. If acknowledged, it
/// receives a message of 112 bytes and sends one of 120 bytes in between. Parts are counted in the
/// order of buckets; if only the first `early` of 100 parts are early, the other parts are counted
/// from the last bucket to the first. Servers beside the workers are at the ends of equal ranges of
/// ranks and send no parts.
Traffic parameter_server_volume(const Layout& layout, const Buckets& buckets, long steps,
                                std::uint64_t servers, std::uint64_t partition,
                                std::uint64_t early = 100, bool beside = false,
                                bool acknowledged = true);

/// The same in order, acknowledged and hierarchical: each part is reduced inside the nodes, pushed
/// and pulled by their leaders, over which the servers are spread evenly, and broadcast inside the
/// nodes.
Traffic parameter_server_by_nodes_volume(const Layout& layout, const Buckets& buckets, long steps,
                                         std::uint64_t servers, std::uint64_t partition);

/// A part of a bucket: its number of elements, and its server.
struct HashedPart {
  std::uint64_t numel, server;
};
/// BytePS's assignment: every bucket is cut into parts of `partition` bytes, of which the last may
/// be shorter. Part p of the bucket declared as number d has the key 65536 d + p. Its server
/// follows from Bernstein's hash of the key's decimal digits. Buckets are declared from the last to
/// the first.
std::vector<HashedPart> hashed_parts(const Buckets& buckets, std::uint64_t servers,
                                     std::uint64_t partition);

/// The volumes for these parts, acknowledged; by nodes, leaders push and pull as above.
Traffic hashed_parameter_server_volume(const Layout& layout, const Buckets& buckets, long steps,
                                       std::uint64_t servers, std::uint64_t partition,
                                       bool beside = false);
Traffic hashed_parameter_server_by_nodes_volume(const Layout& layout, const Buckets& buckets,
                                                long steps, std::uint64_t servers,
                                                std::uint64_t partition);

/// In every step each worker sends its change of each server's shard to the server and receives as
/// many weights, both of coded(n) bytes for n elements; at the end each server sends its shard to
/// all workers.
Traffic async_parameter_server_volume(const Layout& layout, std::uint64_t model, long steps,
                                      std::uint64_t servers,
                                      const std::function<std::uint64_t(std::uint64_t)>& coded);

/// The same with a push in every step and a pull in every step except the last, which ends with the
/// shards of all servers.
Traffic ssp_volume(const Layout& layout, std::uint64_t model, long steps, std::uint64_t servers,
                   const std::function<std::uint64_t(std::uint64_t)>& coded);

}  // namespace trigram::test
