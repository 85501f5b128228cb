#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/config/option_type.h"
#include "core/workload.h"

namespace trigram {

/// Which server has which partition of a model, and which partitions travel together.
enum class Assignment {
  round_robin,  // one after the other
  djb2,         // by a hash of the partition's key, as BytePS: some have more than others
};

/// A piece of a bucket's gradient that one server handles.
struct Partition {
  int bucket = 0;
  Tensor grad;
  std::size_t server = 0, round = 0;
  std::size_t begin = 0;  // elements that its server has before it in its round
};

/// Cuts buckets, which are in the order in which backward completes them, into partitions of at
/// most `nbytes` priced bytes, and assigns these to `servers`. They come back by round; in a round,
/// in their order: that of the buckets for the first of them, a share `early`, rounded up, and that
/// of the next forward pass, the last bucket first, for the others.
///
/// round_robin: nearly equal parts of a bucket, one for each server in every round.
///
/// djb2: parts of `nbytes`, the last of a bucket shorter. The key of part p is 2^16 d + p, where
/// the bucket is number d of all by their names, or of those without names in the order of the
/// forward pass; see `djb2_server`. What each server has is cut into as many equal shares as the
/// fullest of them has times `nbytes`, and in round r travels what begins in the r-th share. So no
/// server waits for one that has more, and none comes to late buckets long before the others.
std::vector<Partition> assign(std::span<const Bucket> buckets, std::size_t servers,
                              std::size_t nbytes, double early, Assignment assignment);

/// The server of a key: Bernstein's hash of its decimal digits, times 33 and plus the character
/// from 5381 on in 64 bits, modulo the number of servers (BytePS, byteps/common/global.cc,
/// Hash_DJB2).
std::size_t djb2_server(std::uint64_t key, std::size_t servers);

/// The option "assignment".
OptionType<Assignment> assignment_kind();

}  // namespace trigram
