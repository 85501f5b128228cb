#include "netmodels/pipeline.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>

namespace trigram {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// Computes the times of messages along the edges of a ring or chain.
class Edges {
 public:
  /// `edges` are all edges of the collective, or one period that represents all of them.
  Edges(const Pipeline& pipeline, std::span<const PipelineEdge> edges, const Transport& transport,
        std::span<PipelineConnection> connections)
      : transport_(transport),
        traffic_(pipeline.traffic),
        edges_(edges),
        connections_(connections),
        streams_(static_cast<double>(transport.total_streams(pipeline.traffic))),
        arrive_s_(edges.size(), kNever) {}

  double overhead_s(std::size_t p) const { return edges_[p].overhead_s; }
  /// Member p hands over a message at `at_s`. Returns the time at which the transport accepts it.
  double send(std::size_t p, double at_s, double nbytes) {
    const PipelineEdge& edge = edges_[p];
    PipelineConnection& connection = connections_[p];
    at_s = accept_s(connection, at_s, nbytes);
    double ready_s = at_s, sending_s = nbytes * edge.per_byte_s;
    if (connection.window) {
      const TcpPath path{streams_, 1 / edge.per_byte_s, 2 * edge.latency_s, edge.busy_s};
      const auto departure = connection.window->send(transport_.tcp, path, at_s, nbytes);
      ready_s = std::max(ready_s, departure.begin_s - edge.busy_s);
      sending_s = std::max(sending_s, departure.end_s - departure.begin_s);
    }
    connection.free_s = std::max(ready_s, connection.free_s) + edge.busy_s + sending_s;
    arrive_s_[p] = connection.free_s + edge.latency_s;
    return at_s;
  }
  /// The time at which the last message of member p arrives.
  double arrive_s(std::size_t p) const { return arrive_s_[p]; }
  /// Records that the last message of member p was received at `at_s`.
  void received(std::size_t p, double at_s) { connections_[p].held.back().received_s = at_s; }

 private:
  /// Adds a message that is handed over at `at_s` to the transport's buffer. Returns the time at
  /// which the buffer has room for it.
  double accept_s(PipelineConnection& connection, double at_s, double nbytes) const {
    auto& held = connection.held;
    while (!held.empty() &&
           (held.front().received_s <= at_s ||
            !transport_.accepts(std::ssize(held), connection.held_bytes, nbytes, traffic_))) {
      at_s = std::max(at_s, held.front().received_s);
      connection.held_bytes -= held.front().nbytes;
      held.pop_front();
    }
    if (held.empty()) connection.held_bytes = 0;
    held.push_back({nbytes, kNever});
    connection.held_bytes += nbytes;
    return at_s;
  }

  const Transport& transport_;
  const TrafficClass traffic_;
  std::span<const PipelineEdge> edges_;
  std::span<PipelineConnection> connections_;
  const double streams_;
  std::vector<double> arrive_s_;
};

/// True if every element of `values` is equal to the element one period before it.
template <class T, class Equal = std::equal_to<>>
bool repeats(std::span<const T> values, std::size_t period, Equal equal = {}) {
  return values.size() <= period ||
         std::ranges::equal(values.subspan(period), values.first(values.size() - period), equal);
}

/// The first members of a ring, for example the workers of one node, and the bytes of their parts.
/// Every other member behaves like the member one period before it.
struct Period {
  std::size_t members;
  std::vector<double> nbytes;
};

/// Finds the shortest period of a ring. If nothing repeats, the period is the whole ring. In a long
/// ring, parts that differ by one element are rounded up to the longest.
Period period_of(const Pipeline& pipeline, std::span<const PipelineEdge> edges,
                 std::span<const PipelineConnection> connections) {
  constexpr std::size_t kFew = 256;  // up to this size, rounding the parts is not worthwhile
  constexpr double kAlike = 0.999;
  const std::size_t P = edges.size();
  const auto [shortest, longest] =
      std::minmax_element(pipeline.nbytes.begin(), pipeline.nbytes.end());
  const bool rounded = P > kFew && *shortest >= kAlike * *longest;
  const auto same_state = [](const PipelineConnection& a, const PipelineConnection& b) {
    return a.free_s == b.free_s && a.held == b.held && a.held_bytes == b.held_bytes &&
           !a.window == !b.window && (!a.window || *a.window == *b.window);
  };
  const auto has_period = [&](std::size_t period) {
    const auto values_repeat = [&](std::span<const double> by_member) {
      return repeats(by_member, period);
    };
    return (rounded || values_repeat(pipeline.nbytes)) && repeats(edges, period) &&
           values_repeat(pipeline.starts_s) && repeats(connections, period, same_state) &&
           std::ranges::all_of(pipeline.phases, [&](const auto& phase) {
             return values_repeat(phase.work_s) && values_repeat(phase.after_s);
           });
  };
  for (std::size_t period = 1; period <= P / 2; ++period)
    if (P % period == 0 && has_period(period)) {
      if (rounded) return {period, std::vector(period, *longest)};
      const auto first = pipeline.nbytes.begin();
      return {period, {first, first + static_cast<std::ptrdiff_t>(period)}};
    }
  return {P, pipeline.nbytes};
}

/// Gives every member the end time and the connection of the member one period before it.
void repeat_period(std::vector<double>& ends_s, std::span<PipelineConnection> connections) {
  const std::size_t period = ends_s.size();
  for (std::size_t p = period; p < connections.size(); ++p) {
    ends_s.push_back(ends_s[p - period]);
    TcpWindow* const window = connections[p].window;
    connections[p] = connections[p - period];
    connections[p].window = window;
    if (window) *window = *connections[p - period].window;
  }
}

}  // namespace

std::vector<double> ring_ends_s(const Pipeline& pipeline, std::span<const PipelineEdge> edges,
                                const Transport& transport,
                                std::span<PipelineConnection> connections) {
  auto [P, nbytes] = period_of(pipeline, edges, connections);
  Edges ring(pipeline, edges.first(P), transport, connections);
  nbytes.insert(nbytes.end(), nbytes.begin(), nbytes.end());  // avoids a modulo for positions
  std::vector<double> ready_s(pipeline.starts_s.begin(),
                              pipeline.starts_s.begin() + static_cast<std::ptrdiff_t>(P));
  std::vector<double> accepted_s(P);
  const auto size = static_cast<int>(P);
  std::size_t j = 0;
  for (const Pipeline::Phase& phase : pipeline.phases) {
    const bool works = !phase.work_s.empty();
    for (int i = 0; i < phase.messages; ++i, ++j) {
      const auto first = static_cast<std::size_t>(
          ((pipeline.first_part - static_cast<int>(j % P)) % size + size) % size);
      for (std::size_t p = 0; p < P; ++p) {
        ready_s[p] += ring.overhead_s(p);
        accepted_s[p] = ring.send(p, ready_s[p], nbytes[first + p]);
      }
      for (std::size_t p = 0; p < P; ++p) {
        const std::size_t before = p > 0 ? p - 1 : P - 1;
        const double received_s = std::max(ready_s[p], ring.arrive_s(before));
        ring.received(before, received_s);
        ready_s[p] = std::max(received_s, accepted_s[p]);
        if (works) ready_s[p] += phase.work_s[p];
      }
    }
    if (!phase.after_s.empty())
      for (std::size_t p = 0; p < P; ++p) ready_s[p] += phase.after_s[p];
  }
  repeat_period(ready_s, connections);
  return ready_s;
}

std::vector<double> chain_ends_s(const Pipeline& pipeline, std::span<const PipelineEdge> edges,
                                 const Transport& transport,
                                 std::span<PipelineConnection> connections) {
  const std::size_t last = edges.size();
  Edges chain(pipeline, edges, transport, connections);
  // A member receives message j in the same batch in which it sends message j - 1.
  std::vector<double> called_s = pipeline.starts_s, accepted_s = pipeline.starts_s;
  const Pipeline::Phase& phase = pipeline.phases[0];
  for (std::size_t j = 0; j < static_cast<std::size_t>(phase.messages); ++j)
    for (std::size_t p = 0; p <= last; ++p) {
      double ready_s = accepted_s[p];
      if (p > 0) {
        const double received_s = std::max(called_s[p], chain.arrive_s(p - 1));
        chain.received(p - 1, received_s);
        ready_s = std::max(received_s, accepted_s[p]);
        if (!phase.work_s.empty()) ready_s += phase.work_s[p];
      }
      called_s[p] = accepted_s[p] = ready_s;
      if (p == last) continue;
      called_s[p] += chain.overhead_s(p);
      accepted_s[p] = chain.send(p, called_s[p], pipeline.nbytes[j]);
    }
  for (std::size_t p = 0; p < phase.after_s.size(); ++p) accepted_s[p] += phase.after_s[p];
  return accepted_s;
}

}  // namespace trigram
