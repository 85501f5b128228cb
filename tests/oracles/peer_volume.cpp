#include "tests/oracles/peer_volume.h"

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>

#include "tests/oracles/closed_forms.h"

namespace trigram::test {
namespace {

/// The number of rows of the most nearly square rectangle.
int rows_of(int P) {
  int rows = 1;
  for (int r = 1; r <= P / r; ++r)
    if (P % r == 0) rows = r;
  return rows;
}

/// True if i sends to j.
using Sends = std::function<bool(int i, int j)>;

Sends sends(const std::string& graph, int P, long step) {
  const int columns = P / rows_of(P), rows = rows_of(P);
  const auto distance = [](int a, int b, int side) { return ((b - a) % side + side) % side; };
  const auto adjacent = [distance](int a, int b, int side) {
    return distance(a, b, side) == 1 || distance(b, a, side) == 1;
  };
  if (graph == "ring") return [=](int i, int j) { return adjacent(i, j, P); };
  if (graph == "torus")
    return [=](int i, int j) {
      const bool same_row = i / columns == j / columns, same_column = i % columns == j % columns;
      return (same_row && adjacent(i % columns, j % columns, columns)) ||
             (same_column && adjacent(i / columns, j / columns, rows));
    };
  if (graph == "grid")
    return [=](int i, int j) {
      return std::abs(i / columns - j / columns) + std::abs(i % columns - j % columns) == 1;
    };
  if (graph == "complete") return [](int, int) { return true; };
  if (graph == "star") return [](int i, int j) { return i == 0 || j == 0; };
  if (graph == "static_exponential")
    return [=](int i, int j) {
      const int hop = distance(i, j, P);
      return (hop & (hop - 1)) == 0;
    };
  if (graph == "one_peer_exponential")
    return [=](int i, int j) { return distance(i, j, P) == 1 << step % ceil_log2(P); };
  if (graph == "n_peer_exponential") {  // two peers, 3^i and 2 3^i ranks ahead, for every i in turn
    int rounds = 0;
    for (int power = 1; power < P; power *= 3) ++rounds;
    int ahead = 1;
    for (long i = step % std::max(1, rounds); i > 0; --i) ahead *= 3;
    return [=](int i, int j) {
      return distance(i, j, P) == ahead % P || distance(i, j, P) == 2 * ahead % P;
    };
  }
  if (graph == "shift_one")
    return [=](int i, int j) {
      const int lower = std::min(i, j), upper = std::max(i, j), half = P / 2;
      return lower < half && upper == half + static_cast<int>((lower + step) % half);
    };
  // Groups of about sqrt(P) ranks, which differ only in the bits of the step.
  if (graph == "butterfly")
    return [=](int i, int j) {
      const int bits = floor_log2(P), in_group = (bits + 1) / 2;
      int mask = 0;
      for (int k = 0; k < in_group; ++k) mask |= 1 << (step * in_group + k) % bits;
      return ((i ^ j) & ~mask) == 0;
    };
  throw std::invalid_argument("no formula for " + graph);
}

void add_every_step(Traffic& traffic, std::uint64_t n, long steps, const std::string& graph,
                    std::uint64_t bytes, bool hierarchical) {
  for (long t = 0; t < steps; ++t) {
    const auto along_edges = [&](Traffic& sum, const Members& members, std::uint64_t) {
      for (const auto& [i, j] : edges_of(graph, static_cast<int>(members.size()), t))
        sum.send(members[static_cast<std::size_t>(i)], members[static_cast<std::size_t>(j)], 1,
                 bytes);
    };
    add_exchange(traffic, n, hierarchical, along_edges);
  }
}

Traffic every_step(const Layout& layout, std::uint64_t n, long steps, const std::string& graph,
                   std::uint64_t bytes, bool hierarchical) {
  Traffic traffic(layout);
  add_every_step(traffic, n, steps, graph, bytes, hierarchical);
  return traffic;
}

}  // namespace

std::vector<std::pair<int, int>> edges_of(const std::string& graph, int P, long step) {
  std::vector<std::pair<int, int>> edges;
  if (P == 1) return edges;
  const Sends sends_to = sends(graph, P, step);
  for (int i = 0; i < P; ++i)
    for (int j = 0; j < P; ++j)
      if (i != j && sends_to(i, j)) edges.emplace_back(i, j);
  return edges;
}

Traffic peer_volume(const Layout& layout, const Buckets& buckets, long steps,
                    const std::string& graph, std::uint64_t extra, bool hierarchical) {
  const std::uint64_t n = model_size(buckets) + extra;
  return every_step(layout, n, steps, graph, 4 * n, hierarchical);
}

Traffic peer_volume_in_buckets(const Layout& layout, const Buckets& buckets, long steps,
                               const std::string& graph, std::uint64_t extra, bool hierarchical) {
  Traffic traffic(layout);
  for (const std::uint64_t bucket : buckets)
    add_every_step(traffic, bucket + extra, steps, graph, 4 * (bucket + extra), hierarchical);
  return traffic;
}

Traffic moshpit_volume(const Layout& layout, const Buckets& parts, long averages, long rounds,
                       const std::vector<int>& sides, bool hierarchical) {
  Traffic traffic(layout);
  for (long average = 0; average < averages; ++average) {
    const auto in_lines = [&](Traffic& sum, const Members& members, std::uint64_t n) {
      for (long round = average * rounds; round < (average + 1) * rounds; ++round) {
        const auto axis = static_cast<std::size_t>(round) % sides.size();
        std::size_t stride = 1;
        for (std::size_t k = 0; k < axis; ++k) stride *= static_cast<std::size_t>(sides[k]);
        const std::size_t plane = stride * static_cast<std::size_t>(sides[axis]);
        std::map<std::pair<std::size_t, std::size_t>, Members> lines;
        for (std::size_t i = 0; i < members.size(); ++i)
          lines[{i / plane, i % stride}].push_back(members[i]);
        for (const auto& [position, line] : lines) add_allreduce(sum, line, n, "ring");
      }
    };
    for (const std::uint64_t n : parts) add_exchange(traffic, n, hierarchical, in_lines);
  }
  return traffic;
}

Traffic coded_peer_volume(const Layout& layout, const Buckets& buckets, long steps,
                          const std::string& graph, bool hierarchical, const CodeBytes& code) {
  const std::uint64_t n = model_size(buckets);
  return every_step(layout, n, steps, graph, code(n), hierarchical);
}

}  // namespace trigram::test
