#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/layout.h"

namespace trigram::test {

/// The traffic that one rank sends, inside its node and to other nodes: bytes of payload, and
/// messages.
struct Sent {
  std::uint64_t bytes_intra = 0, bytes_inter = 0;
  std::uint64_t messages_intra = 0, messages_inter = 0;
  bool operator==(const Sent&) const = default;
};

/// The traffic that every rank of a layout sends, summed over everything that was added.
class Traffic {
 public:
  explicit Traffic(const Layout& layout) : layout_(layout), sent_(ranks(layout)) {}
  void send(int source, int destination, std::uint64_t messages, std::uint64_t bytes);
  /// Adds the traffic of another part of the same run.
  Traffic& operator+=(const Traffic& other);
  const Sent& sent_by(int rank) const { return sent_[static_cast<std::size_t>(rank)]; }
  const Layout& layout() const { return layout_; }

 private:
  static std::size_t ranks(const Layout& layout) {
    return static_cast<std::size_t>(layout.ranks());
  }
  Layout layout_;
  std::vector<Sent> sent_;
};

using Members = std::vector<int>;  // world ranks, in the order of their ranks in the group
Members all_ranks(const Layout& layout);

// Each of these functions adds one exchange of a vector of n f32 elements among `members`.

/// `algorithm` is "ring", "recursive_doubling", "rabenseifner" or "double_tree".
void add_allreduce(Traffic& traffic, const Members& members, std::uint64_t n,
                   const std::string& algorithm);
/// Rings over `channels` parts of the vector. Ring c visits the `workers` workers of each node,
/// beginning with worker c.
void add_channelled_ring(Traffic& traffic, const Members& members, std::uint64_t n,
                         std::size_t channels, std::size_t workers = 1);
/// A double binary tree over nodes of `workers` workers. Each tree carries half of the vector in
/// `chunks` chunks, up every edge and down again.
void add_double_tree(Traffic& traffic, const Members& members, std::uint64_t n, std::size_t workers,
                     std::size_t chunks);
/// The number of bytes of the code of n elements.
using CodeBytes = std::function<std::uint64_t(std::uint64_t n)>;
/// The bytes of MinMaxUInt8: a header of 32, and one byte per element rounded up to a multiple of
/// 32.
std::uint64_t coded_bytes(std::uint64_t n);
/// Scatter-reduce of encoded parts. If `phase2` is "direct", the owners send the encoded means to
/// all ranks directly; if it is "allgather", around a ring.
void add_compressed_scatter_reduce(Traffic& traffic, const Members& members, std::uint64_t n,
                                   const CodeBytes& code = coded_bytes,
                                   const std::string& phase2 = "allgather");
/// Every rank's code of the whole vector goes to every rank, by a ring.
void add_code_allgather(Traffic& traffic, const Members& members, std::uint64_t n,
                        const CodeBytes& code);
/// An encoded ring allreduce: every rank sends all parts but its own as codes to its right
/// neighbour, and then all parts but that neighbour's.
void add_code_ring(Traffic& traffic, const Members& members, std::uint64_t n,
                   const CodeBytes& code);
/// Codes of the whole vector go up a binomial tree to the first member, and then back down.
void add_code_tree(Traffic& traffic, const Members& members, std::uint64_t n,
                   const CodeBytes& code);
/// Each rank sends `pairs` pairs of value and index, of 8 bytes each, to the owner of every region.
/// Then every owner sends the same number of pairs to all ranks by a ring.
void add_regional_average(Traffic& traffic, const Members& members, std::uint64_t pairs);
/// Each rank sends the whole vector to its partner of `step`.
void add_shift_one(Traffic& traffic, const Members& members, std::uint64_t n, long step);
/// Each rank sends the whole vector to both neighbours.
void add_ring_mixing(Traffic& traffic, const Members& members, std::uint64_t n);

using VolumeOfExchange = std::function<void(Traffic&, const Members&, std::uint64_t n)>;
/// A binomial reduction to the first rank of every node, `exchange` between these ranks, and a
/// binomial broadcast.
void add_hierarchical(Traffic& traffic, std::uint64_t n, const VolumeOfExchange& exchange);
/// The same if `hierarchical`, otherwise `exchange` between all ranks.
void add_exchange(Traffic& traffic, std::uint64_t n, bool hierarchical,
                  const VolumeOfExchange& exchange);

}  // namespace trigram::test
