#include "tests/oracles/flows.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <queue>

namespace trigram::test {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// The rates of the active flows, by progressive filling; 0 for the other flows.
std::vector<double> rates(const std::vector<double>& bandwidth_Bps, const std::vector<Flow>& flows,
                          std::vector<bool> growing) {
  std::vector<double> rate(flows.size(), 0), left = bandwidth_Bps;
  for (;;) {
    std::vector<int> load(left.size(), 0);
    for (std::size_t f = 0; f < flows.size(); ++f)
      for (const std::size_t link : flows[f].links) load[link] += growing[f] ? 1 : 0;
    double share = kNever;
    std::size_t full = 0;
    for (std::size_t link = 0; link < left.size(); ++link)
      if (load[link] > 0 && left[link] / load[link] < share) {
        share = left[link] / load[link];
        full = link;
      }
    if (share == kNever) return rate;
    for (std::size_t f = 0; f < flows.size(); ++f) {
      const auto& links = flows[f].links;
      if (!growing[f] || std::find(links.begin(), links.end(), full) == links.end()) continue;
      growing[f] = false;
      rate[f] = share;
      for (const std::size_t link : links) left[link] -= share;
    }
  }
}

}  // namespace

std::vector<double> max_min_ends(const std::vector<double>& bandwidth_Bps,
                                 std::vector<Flow> flows) {
  std::vector<double> end_s(flows.size(), kNever);
  for (double now_s = 0;;) {
    std::vector<bool> active(flows.size());
    for (std::size_t f = 0; f < flows.size(); ++f)
      active[f] = flows[f].start_s <= now_s && end_s[f] == kNever;
    const auto rate = rates(bandwidth_Bps, flows, active);
    double next_s = kNever;  // the next start or end of a flow
    std::size_t ending = flows.size();
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (flows[f].start_s > now_s) next_s = std::min(next_s, flows[f].start_s);
    }
    for (std::size_t f = 0; f < flows.size(); ++f)
      if (active[f] && now_s + flows[f].bytes / rate[f] < next_s) {
        next_s = now_s + flows[f].bytes / rate[f];
        ending = f;
      }
    if (next_s == kNever) return end_s;
    for (std::size_t f = 0; f < flows.size(); ++f)
      if (active[f]) flows[f].bytes -= rate[f] * (next_s - now_s);
    if (ending < flows.size()) end_s[ending] = next_s;
    now_s = next_s;
  }
}

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Edges with their residual capacities; the reverse of edge i is i xor 1.
class Residual {
 public:
  Residual(int vertices, const std::vector<Edge>& edges) : leaving_(at(vertices)) {
    for (const Edge& e : edges) add(e);
  }
  void add(const Edge& e) {
    for (const Edge& half : {e, Edge{e.to, e.from, 0}}) {
      leaving_[at(half.from)].push_back(edges_.size());
      edges_.push_back(half);
    }
  }
  /// Sends as much as possible along a shortest path. Returns the amount, 0 if there is no path.
  double augment(int source, int sink) {
    std::vector<std::size_t> edge_to(leaving_.size(), kNone);  // the path's edge to each vertex
    std::queue<int> queue({source});
    while (!queue.empty() && edge_to[at(sink)] == kNone) {
      const int v = queue.front();
      queue.pop();
      for (const std::size_t e : leaving_[at(v)]) {
        const int to = edges_[e].to;
        if (edges_[e].capacity <= 1e-9 || to == source || edge_to[at(to)] != kNone) continue;
        edge_to[at(to)] = e;
        queue.push(to);
      }
    }
    if (edge_to[at(sink)] == kNone) return 0;
    double amount = kInfinity;
    for (int v = sink; v != source; v = edges_[edge_to[at(v)]].from)
      amount = std::min(amount, edges_[edge_to[at(v)]].capacity);
    for (int v = sink; v != source; v = edges_[edge_to[at(v)]].from) {
      edges_[edge_to[at(v)]].capacity -= amount;
      edges_[edge_to[at(v)] ^ 1].capacity += amount;
    }
    return amount;
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  std::vector<Edge> edges_;
  std::vector<std::vector<std::size_t>> leaving_;
};

}  // namespace

double max_flow(int vertices, const std::vector<Edge>& edges, const std::vector<int>& sources,
                const std::vector<int>& sinks) {
  constexpr double kMuch = 1e30;
  const int source = vertices, sink = vertices + 1;
  Residual residual(vertices + 2, edges);
  for (const int v : sources) residual.add({source, v, kMuch});
  for (const int v : sinks) residual.add({v, sink, kMuch});
  double flow = 0;
  while (const double more = residual.augment(source, sink)) flow += more;
  return flow;
}

double brute_force_bisection(int vertices, const std::vector<Edge>& edges,
                             const std::vector<int>& members) {
  double least = kInfinity;
  const auto n = static_cast<int>(members.size());
  for (unsigned set = 0; set < 1U << n; ++set) {
    const int size = std::popcount(set);
    if (size != n / 2 && size != (n + 1) / 2) continue;
    std::vector<int> inside, outside;
    for (int i = 0; i < n; ++i) ((set >> i & 1U) != 0 ? inside : outside).push_back(members[at(i)]);
    least = std::min(least, max_flow(vertices, edges, inside, outside));
  }
  return least;
}

std::vector<int> distances(int vertices, const std::vector<Edge>& edges, int source) {
  std::vector<std::vector<int>> next(at(vertices));
  for (const Edge& e : edges) next[at(e.from)].push_back(e.to);
  std::vector<int> distance(at(vertices), -1);
  distance[at(source)] = 0;
  for (std::queue<int> queue({source}); !queue.empty(); queue.pop())
    for (const int to : next[at(queue.front())]) {
      if (distance[at(to)] >= 0) continue;
      distance[at(to)] = distance[at(queue.front())] + 1;
      queue.push(to);
    }
  return distance;
}

}  // namespace trigram::test
