#include "netmodels/pipeline.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>

namespace trigram {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// The edges of a ring or chain, and the times of messages along them.
class Edges {
 public:
  /// `edges` may be one period of the collective's edges, which then represents all of them.
  Edges(const Pipeline& pipeline, std::span<const PipelineEdge> edges, const Transport& transport,
        std::span<PipelineConnection> connections)
      : transport_(transport),
        traffic_(pipeline.traffic),
        edges_(edges),
        connections_(connections),
        streams_(static_cast<double>(transport.all_streams(pipeline.traffic))),
        arrive_s_(edges.size(), kNever) {}

  double overhead_s(std::size_t p) const { return edges_[p].overhead_s; }
  /// Member p hands over a message at `at_s`. Returns the time at which the transport has taken it.
  double send(std::size_t p, double at_s, double nbytes) {
    const PipelineEdge& edge = edges_[p];
    PipelineConnection& connection = connections_[p];
    at_s = take_s(connection, at_s, nbytes);
    double ready_s = at_s, sending_s = nbytes * edge.per_byte_s;
    if (connection.window) {
      const TcpPath path{streams_, 1 / edge.per_byte_s, 2 * edge.latency_s, edge.busy_s};
      const auto leaving = connection.window->leave(transport_.tcp, path, at_s, nbytes);
      ready_s = std::max(ready_s, leaving.begin_s - edge.busy_s);
      sending_s = std::max(sending_s, leaving.end_s - leaving.begin_s);
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
  /// Returns the time at which there is room for a message that is handed over at `at_s`, and adds
  /// the message.
  double take_s(PipelineConnection& connection, double at_s, double nbytes) const {
    auto& held = connection.held;
    while (!held.empty() &&
           (held.front().received_s <= at_s ||
            !transport_.takes(std::ssize(held), connection.held_bytes, nbytes, traffic_))) {
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

template <class T, class Same>
bool repeats(std::span<const T> all, std::size_t period, Same same) {
  for (std::size_t p = period; p < all.size(); ++p)
    if (!same(all[p], all[p - period])) return false;
  return true;
}

/// The shortest period of a ring (for example the workers of one node), and the parts of its
/// members. Every member of the ring behaves like the member one period before it.
struct Period {
  std::size_t members;
  std::vector<double> nbytes;
};

/// Finds the period of a ring. If nothing repeats, the period is the whole ring. In a long ring,
/// parts that differ by one element are rounded up to the longest.
Period period_of(const Pipeline& pipeline, std::span<const PipelineEdge> edges,
                 std::span<const PipelineConnection> connections) {
  constexpr std::size_t kFew = 256;  // up to this size, rounding the parts is not worthwhile
  constexpr double kAlike = 0.999;
  const std::size_t P = edges.size();
  const auto [shortest, longest] =
      std::minmax_element(pipeline.nbytes.begin(), pipeline.nbytes.end());
  const bool rounded = P > kFew && *shortest >= kAlike * *longest;
  const auto equal = [](double a, double b) { return a == b; };
  const auto alike = [](const PipelineConnection& a, const PipelineConnection& b) {
    return a.free_s == b.free_s && a.held == b.held && a.held_bytes == b.held_bytes &&
           !a.window == !b.window && (!a.window || *a.window == *b.window);
  };
  const auto same_again = [&](std::size_t period) {
    const auto repeated = [&](std::span<const double> by_place) {
      return repeats(by_place, period, equal);
    };
    return (rounded || repeated(pipeline.nbytes)) &&
           repeats(edges, period, std::equal_to<PipelineEdge>()) && repeated(pipeline.starts_s) &&
           repeats(connections, period, alike) &&
           std::all_of(pipeline.phases.begin(), pipeline.phases.end(), [&](const auto& phase) {
             return repeated(phase.work_s) && repeated(phase.after_s);
           });
  };
  for (std::size_t period = 1; period <= P / 2; ++period)
    if (P % period == 0 && same_again(period)) {
      if (rounded) return {period, std::vector(period, *longest)};
      const auto first = pipeline.nbytes.begin();
      return {period, {first, first + static_cast<std::ptrdiff_t>(period)}};
    }
  return {P, pipeline.nbytes};
}

}  // namespace

std::vector<double> ring_ends_s(const Pipeline& pipeline, std::span<const PipelineEdge> edges,
                                const Transport& transport,
                                std::span<PipelineConnection> connections) {
  const std::size_t members = edges.size();
  auto [P, nbytes] = period_of(pipeline, edges, connections);
  Edges ring(pipeline, edges.first(P), transport, connections);
  nbytes.insert(nbytes.end(), nbytes.begin(), nbytes.end());  // avoids a modulo for positions
  std::vector<double> ready_s(pipeline.starts_s.begin(),
                              pipeline.starts_s.begin() + static_cast<std::ptrdiff_t>(P));
  std::vector<double> taken_s(P);
  const auto size = static_cast<int>(P);
  std::size_t j = 0;
  for (const Pipeline::Phase& phase : pipeline.phases) {
    const bool works = !phase.work_s.empty();
    for (int i = 0; i < phase.messages; ++i, ++j) {
      const auto first = static_cast<std::size_t>(
          ((pipeline.first_part - static_cast<int>(j % P)) % size + size) % size);
      for (std::size_t p = 0; p < P; ++p) {
        ready_s[p] += ring.overhead_s(p);
        taken_s[p] = ring.send(p, ready_s[p], nbytes[first + p]);
      }
      for (std::size_t p = 0; p < P; ++p) {
        const std::size_t before = p > 0 ? p - 1 : P - 1;
        const double received_s = std::max(ready_s[p], ring.arrive_s(before));
        ring.received(before, received_s);
        ready_s[p] = std::max(received_s, taken_s[p]);
        if (works) ready_s[p] += phase.work_s[p];
      }
    }
    if (!phase.after_s.empty())
      for (std::size_t p = 0; p < P; ++p) ready_s[p] += phase.after_s[p];
  }
  for (std::size_t p = P; p < members; ++p) {
    ready_s.push_back(ready_s[p - P]);
    TcpWindow* const window = connections[p].window;
    connections[p] = connections[p - P];
    connections[p].window = window;
    if (window) *window = *connections[p - P].window;
  }
  return ready_s;
}

std::vector<double> chain_ends_s(const Pipeline& pipeline, std::span<const PipelineEdge> edges,
                                 const Transport& transport,
                                 std::span<PipelineConnection> connections) {
  const std::size_t last = edges.size();
  Edges chain(pipeline, edges, transport, connections);
  // A member receives a message in the same batch in which it sends the message before.
  std::vector<double> called_s = pipeline.starts_s, taken_s = pipeline.starts_s;
  const Pipeline::Phase& phase = pipeline.phases[0];
  for (std::size_t j = 0; j < static_cast<std::size_t>(phase.messages); ++j)
    for (std::size_t p = 0; p <= last; ++p) {
      double ready_s = taken_s[p];
      if (p > 0) {
        const double received_s = std::max(called_s[p], chain.arrive_s(p - 1));
        chain.received(p - 1, received_s);
        ready_s = std::max(received_s, taken_s[p]);
        if (!phase.work_s.empty()) ready_s += phase.work_s[p];
      }
      called_s[p] = taken_s[p] = ready_s;
      if (p == last) continue;
      called_s[p] += chain.overhead_s(p);
      taken_s[p] = chain.send(p, called_s[p], pipeline.nbytes[j]);
    }
  for (std::size_t p = 0; p < phase.after_s.size(); ++p) taken_s[p] += phase.after_s[p];
  return taken_s;
}

}  // namespace trigram
