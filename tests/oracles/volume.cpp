#include "tests/oracles/volume.h"

#include <numeric>
#include <stdexcept>

#include "tests/oracles/double_tree.h"

namespace trigram::test {
namespace {

constexpr std::uint64_t kElement = 4;  // bytes of an f32

/// The number of elements of the parts [first, last) when n elements are cut into `count` parts.
std::uint64_t span_of(std::uint64_t n, std::size_t first, std::size_t last, std::size_t count) {
  return n * last / count - n * first / count;
}

/// Folds the even ranks of the first pairs onto the odd ones (Thakur, Rabenseifner and Gropp,
/// IJHPCA 2005). Returns the active ranks, whose number is a power of two. The ranks of a pair send
/// each other n elements.
Members fold(Traffic& traffic, const Members& members, std::uint64_t n) {
  std::size_t power = 1;
  while (2 * power <= members.size()) power *= 2;
  const std::size_t pairs = members.size() - power;
  Members active;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i >= 2 * pairs) {
      active.push_back(members[i]);
    } else if (i % 2 == 1) {
      traffic.send(members[i - 1], members[i], 1, n * kElement);
      traffic.send(members[i], members[i - 1], 1, n * kElement);
      active.push_back(members[i]);
    }
  }
  return active;
}

/// In the reduce-scatter each rank sends every part once, except the part that completes on it; in
/// the allgather it sends every part once, except the part that its right neighbour owns.
void add_ring_allreduce(Traffic& traffic, const Members& members, std::uint64_t n) {
  const std::size_t P = members.size();
  if (P == 1) return;
  for (std::size_t r = 0; r < P; ++r) {
    const std::size_t right = (r + 1) % P;
    const std::uint64_t elements =
        2 * n - span_of(n, r, r + 1, P) - span_of(n, right, right + 1, P);
    traffic.send(members[r], members[right], 2 * (P - 1), elements * kElement);
  }
}

void add_recursive_doubling(Traffic& traffic, const Members& members, std::uint64_t n) {
  const Members active = fold(traffic, members, n);
  for (std::size_t i = 0; i < active.size(); ++i)
    for (std::size_t bit = 1; bit < active.size(); bit *= 2)
      traffic.send(active[i], active[i ^ bit], 1, n * kElement);
}

/// A rank and its peer at distance w have 2w parts in common. When halving, the rank sends the
/// peer's half of these parts; when doubling, its own half. In total it sends 2w parts.
void add_rabenseifner(Traffic& traffic, const Members& members, std::uint64_t n) {
  const Members active = fold(traffic, members, n);
  const std::size_t P = active.size();
  for (std::size_t i = 0; i < P; ++i)
    for (std::size_t w = 1; w < P; w *= 2) {
      const std::size_t first = i - i % (2 * w);
      traffic.send(active[i], active[i ^ w], 2, span_of(n, first, first + 2 * w, P) * kElement);
    }
}

void send_both_ways(Traffic& traffic, int a, int b, std::size_t messages, std::uint64_t elements) {
  traffic.send(a, b, messages, elements * kElement);
  traffic.send(b, a, messages, elements * kElement);
}

/// The edges of a binomial tree: the parent of v is v without its lowest bit.
void for_each_edge(const Members& members, const std::function<void(int child, int parent)>& edge) {
  for (std::size_t v = 1; v < members.size(); ++v) edge(members[v], members[v & (v - 1)]);
}

/// A double tree in NCCL's chunks. If all ranks take part, the nodes are those of the layout. In a
/// subset, each rank counts as a node.
void add_double_tree_by_rule(Traffic& traffic, const Members& members, std::uint64_t n) {
  const Layout& layout = traffic.layout();
  const bool all = static_cast<int>(members.size()) == layout.ranks();
  const std::size_t workers = all ? layout.nodes()[0].size() : 1;
  const auto nodes = static_cast<int>(members.size() / workers);
  add_double_tree(traffic, members, n, workers,
                  double_tree_chunks(n * kElement, nodes, static_cast<int>(workers)));
}

/// The partner of rank `r` of m in `step`, by BAGUA's documentation of shift_one.
long shift_one_peer(long r, long m, long step) {
  const long half = m / 2;
  if (r < half) return (step + r) % half + half;
  const long shifted = (r - half - step) % half;
  return shifted < 0 ? shifted + half : shifted;
}

}  // namespace

void Traffic::send(int source, int destination, std::uint64_t messages, std::uint64_t bytes) {
  Sent& sent = sent_[static_cast<std::size_t>(source)];
  const bool intra = layout_.same_node(source, destination);
  (intra ? sent.messages_intra : sent.messages_inter) += messages;
  (intra ? sent.bytes_intra : sent.bytes_inter) += bytes;
}

Traffic& Traffic::operator+=(const Traffic& other) {
  for (std::size_t rank = 0; rank < sent_.size(); ++rank) {
    const Sent& more = other.sent_[rank];
    sent_[rank].bytes_intra += more.bytes_intra;
    sent_[rank].bytes_inter += more.bytes_inter;
    sent_[rank].messages_intra += more.messages_intra;
    sent_[rank].messages_inter += more.messages_inter;
  }
  return *this;
}

Members all_ranks(const Layout& layout) {
  Members members(static_cast<std::size_t>(layout.ranks()));
  std::iota(members.begin(), members.end(), 0);
  return members;
}

void add_double_tree(Traffic& traffic, const Members& members, std::uint64_t n, std::size_t workers,
                     std::size_t chunks) {
  const std::size_t nodes = members.size() / workers;
  for (int tree = 0; tree < 2 && members.size() > 1; ++tree) {
    const std::uint64_t half =
        span_of(n, static_cast<std::size_t>(tree), static_cast<std::size_t>(tree) + 1, 2);
    const auto parents = double_tree_parents(tree, static_cast<int>(nodes));
    for (std::size_t r = 0; r < members.size(); ++r) {
      const bool first = r % workers == 0;
      if (first && parents[r / workers] < 0) continue;
      const std::size_t parent =
          first ? static_cast<std::size_t>(parents[r / workers]) * workers : r - 1;
      send_both_ways(traffic, members[r], members[parent], chunks, half);
    }
  }
}

void add_allreduce(Traffic& traffic, const Members& members, std::uint64_t n,
                   const std::string& algorithm) {
  if (algorithm == "ring") add_ring_allreduce(traffic, members, n);
  else if (algorithm == "recursive_doubling") add_recursive_doubling(traffic, members, n);
  else if (algorithm == "rabenseifner") add_rabenseifner(traffic, members, n);
  else if (algorithm == "double_tree") add_double_tree_by_rule(traffic, members, n);
  else throw std::invalid_argument("no formula for allreduce " + algorithm);
}

void add_channelled_ring(Traffic& traffic, const Members& members, std::uint64_t n,
                         std::size_t channels, std::size_t workers) {
  for (std::size_t c = 0; c < channels; ++c) {
    Members order;
    for (std::size_t first = 0; first < members.size(); first += workers)
      for (std::size_t i = 0; i < workers; ++i) order.push_back(members[first + (i + c) % workers]);
    add_ring_allreduce(traffic, order, span_of(n, c, c + 1, channels));
  }
}

std::uint64_t coded_bytes(std::uint64_t n) { return 32 + (n + 31) / 32 * 32; }

/// Rank r sends part j to rank j. Then it sends its own encoded mean to all ranks or, on the ring,
/// forwards every encoded mean except its right neighbour's.
void add_compressed_scatter_reduce(Traffic& traffic, const Members& members, std::uint64_t n,
                                   const CodeBytes& code, const std::string& phase2) {
  const std::size_t P = members.size();
  if (P == 1) return;
  if (phase2 != "direct" && phase2 != "allgather")
    throw std::invalid_argument("no formula for phase 2 " + phase2);
  for (std::size_t r = 0; r < P; ++r) {
    const std::size_t right = (r + 1) % P;
    for (std::size_t j = 0; j < P; ++j) {
      const std::uint64_t bytes = code(span_of(n, j, j + 1, P));
      if (j != r) traffic.send(members[r], members[j], 1, bytes);
      if (phase2 == "allgather") {
        if (j != right) traffic.send(members[r], members[right], 1, bytes);
      } else if (j != r) {
        traffic.send(members[r], members[j], 1, code(span_of(n, r, r + 1, P)));
      }
    }
  }
}

void add_code_allgather(Traffic& traffic, const Members& members, std::uint64_t n,
                        const CodeBytes& code) {
  const std::size_t P = members.size();
  for (std::size_t r = 0; r < P && P > 1; ++r)
    traffic.send(members[r], members[(r + 1) % P], P - 1, (P - 1) * code(n));
}

void add_code_ring(Traffic& traffic, const Members& members, std::uint64_t n,
                   const CodeBytes& code) {
  const std::size_t P = members.size();
  for (std::size_t r = 0; r < P; ++r) {
    const std::size_t right = (r + 1) % P;
    for (std::size_t j = 0; j < P; ++j)
      for (const std::size_t kept : {r, right})
        if (j != kept && P > 1)
          traffic.send(members[r], members[right], 1, code(span_of(n, j, j + 1, P)));
  }
}

void add_code_tree(Traffic& traffic, const Members& members, std::uint64_t n,
                   const CodeBytes& code) {
  for_each_edge(members, [&](int child, int parent) {
    traffic.send(child, parent, 1, code(n));
    traffic.send(parent, child, 1, code(n));
  });
}

void add_regional_average(Traffic& traffic, const Members& members, std::uint64_t pairs) {
  const std::size_t P = members.size();
  for (std::size_t r = 0; r < P && P > 1; ++r) {
    for (std::size_t j = 0; j < P; ++j)
      if (j != r) traffic.send(members[r], members[j], 1, 8 * pairs);
    traffic.send(members[r], members[(r + 1) % P], P - 1, 8 * pairs * (P - 1));
  }
}

void add_shift_one(Traffic& traffic, const Members& members, std::uint64_t n, long step) {
  const auto m = static_cast<long>(members.size());
  if (m == 1) return;
  for (long r = 0; r < m; ++r)
    traffic.send(members[static_cast<std::size_t>(r)],
                 members[static_cast<std::size_t>(shift_one_peer(r, m, step))], 1, n * kElement);
}

void add_ring_mixing(Traffic& traffic, const Members& members, std::uint64_t n) {
  const std::size_t P = members.size();
  for (std::size_t r = 0; r < P && P > 1; ++r) {
    traffic.send(members[r], members[(r + 1) % P], 1, n * kElement);
    if (P > 2) traffic.send(members[r], members[(r + P - 1) % P], 1, n * kElement);
  }
}

void add_hierarchical(Traffic& traffic, std::uint64_t n, const VolumeOfExchange& exchange) {
  for (const Members& node : traffic.layout().nodes())
    for_each_edge(node, [&](int child, int parent) {
      traffic.send(child, parent, 1, n * kElement);
      traffic.send(parent, child, 1, n * kElement);
    });
  exchange(traffic, traffic.layout().leaders(), n);
}

void add_exchange(Traffic& traffic, std::uint64_t n, bool hierarchical,
                  const VolumeOfExchange& exchange) {
  if (hierarchical) add_hierarchical(traffic, n, exchange);
  else exchange(traffic, all_ranks(traffic.layout()), n);
}

}  // namespace trigram::test
