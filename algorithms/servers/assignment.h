#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/config/option_type.h"
#include "core/workload.h"

namespace trigram {

/// Which server handles which partition of a model, and which partitions travel together.
enum class Assignment {
  round_robin,  // to each server in turn
  djb2,         // by a hash of the partition's key, as in BytePS; the loads of servers differ
};

/// A piece of a bucket's gradient that one server handles.
struct Partition {
  int bucket = 0;
  Tensor grad;
  std::size_t server = 0, round = 0;
  std::size_t begin = 0;  // number of elements of its server's earlier partitions in the same round
};

/// Cuts buckets, given in the order in which backward completes them, into partitions of at most
/// `nbytes` priced bytes, and assigns these to `servers` servers. Returns the partitions sorted by
/// round. Within a round, the early partitions come first, in the order of the buckets; `early` is
/// their share of all partitions, rounded up. The late partitions follow in the order of the next
/// forward pass, which is the reverse order of the buckets.
///
/// round_robin: nearly equal parts of a bucket; each round has one partition per server.
///
/// djb2: parts of `nbytes`; the last part of a bucket may be shorter. The key of part p is 2^16 d +
/// p, where d is the number of the bucket when buckets are sorted by name; buckets without names
/// are numbered in the order of the forward pass. `djb2_server` gives the server of a key. The
/// number of rounds is the largest server's load divided by `nbytes`, rounded up. Each server's
/// load is divided into that many equal shares, and a partition travels in round r if it begins in
/// share r. So no server waits for a server with a larger load, and none reaches late buckets long
/// before the other servers.
std::vector<Partition> assign(std::span<const Bucket> buckets, std::size_t servers,
                              std::size_t nbytes, double early, Assignment assignment);

/// The server of a key: Bernstein's hash of the key's decimal digits, modulo the number of servers.
/// The hash starts at 5381; each digit multiplies it by 33 and adds the character, in 64 bits
/// (BytePS, byteps/common/global.cc, Hash_DJB2).
std::size_t djb2_server(std::uint64_t key, std::size_t servers);

/// The option "assignment".
OptionType<Assignment> assignment_kind();

}  // namespace trigram
