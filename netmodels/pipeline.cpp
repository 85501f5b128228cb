#include "netmodels/pipeline.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trigram {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// The edges of a ring or chain, and the dates of the messages along them.
class Edges {
 public:
  /// Of a collective of `members`, of which the edges may be a part that stands for all.
  Edges(const Pipeline& pipeline, std::span<const PipelineEdge> edges, std::size_t members,
        const Transport& transport, std::span<TcpWindow* const> windows)
      : transport_(transport),
        edges_(edges),
        windows_(windows),
        streams_(static_cast<double>(transport.all_streams(pipeline.traffic))),
        free_s_(edges.size(), kNever),
        arrive_s_(edges.size(), kNever) {
    const double longest = *std::max_element(pipeline.nbytes.begin(), pipeline.nbytes.end());
    const double buffers =
        transport.buffer_bytes *
        static_cast<double>(is_collective(pipeline.traffic) ? transport.channels : 1);
    double held = longest > 0 ? std::max(1.0, std::floor(buffers / longest)) : 1e9;
    if (transport.slots > 0) held = std::min(held, static_cast<double>(transport.slots));
    held_ = static_cast<std::size_t>(held);
    // A member is never further ahead of the next than the data that it needs has come around.
    limited_ = held_ < members;
    if (limited_) received_s_.assign(held_ * (edges.size() + 1), kNever);
    opening_ = std::any_of(windows.begin(), windows.end(), [](auto* w) { return w != nullptr; });
  }

  double overhead_s(std::size_t p) const { return edges_[p].overhead_s; }
  /// Message `j` of `nbytes` is handed over at `at_s` by member p, whose next is `next`. Returns
  /// when the transport has taken it.
  double send(std::size_t p, std::size_t next, std::size_t j, double at_s, double nbytes) {
    const PipelineEdge& edge = edges_[p];
    if (limited_ && j >= held_) at_s = std::max(at_s, received_s_[row(j) + next]);
    double ready_s = at_s;
    if (opening_ && windows_[p] != nullptr)
      ready_s += windows_[p]->pause_s(transport_.tcp, streams_, at_s, nbytes, 1 / edge.per_byte_s,
                                      2 * edge.latency_s);
    free_s_[p] = std::max(ready_s, free_s_[p]) + nbytes * edge.per_byte_s;
    arrive_s_[p] = free_s_[p] + edge.latency_s;
    return at_s;
  }
  double arrive_s(std::size_t p) const { return arrive_s_[p]; }
  void received(std::size_t p, std::size_t j, double at_s) {
    if (limited_) received_s_[row(j) + p] = at_s;
  }
  std::size_t size() const { return edges_.size(); }

 private:
  std::size_t row(std::size_t j) const { return j % held_ * (edges_.size() + 1); }

  const Transport& transport_;
  std::span<const PipelineEdge> edges_;
  std::span<TcpWindow* const> windows_;
  const double streams_;
  std::vector<double> free_s_, arrive_s_;
  std::size_t held_ = 0;  // messages that a connection holds
  bool limited_ = false, opening_ = false;
  std::vector<double> received_s_;  // of the last `held_` messages, by member
};

}  // namespace

namespace {

template <class T, class Same>
bool repeats(std::span<const T> all, std::size_t period, Same same) {
  for (std::size_t p = period; p < all.size(); ++p)
    if (!same(all[p], all[p - period])) return false;
  return true;
}

/// After how many members of a ring everything is the same again, as after the workers of a node;
/// all of them where it never is. Parts that differ by an element count as equal.
std::size_t period_of(const Pipeline& pipeline, std::span<const PipelineEdge> edges) {
  constexpr std::size_t kFew = 256;  // rings for which it is not worth the rounding of parts
  constexpr double kAlike = 0.999;
  const std::size_t P = edges.size();
  const auto [shortest, longest] =
      std::minmax_element(pipeline.nbytes.begin(), pipeline.nbytes.end());
  if (P <= kFew || *shortest < kAlike * *longest) return P;
  const auto equal = [](double a, double b) { return a == b; };
  for (const std::size_t period : {1, 2, 4, 8, 16})
    if (P % period == 0 &&
        repeats(edges, period,
                [](const PipelineEdge& a, const PipelineEdge& b) { return a == b; }) &&
        repeats(std::span<const double>(pipeline.starts_s), period, equal) &&
        std::all_of(pipeline.phases.begin(), pipeline.phases.end(), [&](const auto& phase) {
          return repeats(std::span<const double>(phase.work_s), period, equal);
        }))
      return period;
  return P;
}

}  // namespace

std::vector<double> ring_ends_s(const Pipeline& pipeline, std::span<const PipelineEdge> edges,
                                const Transport& transport, std::span<TcpWindow* const> windows) {
  const std::size_t members = edges.size();
  const std::size_t P = windows.empty() ? period_of(pipeline, edges) : members;
  Edges ring(pipeline, edges.first(P), members, transport, windows);
  std::vector<double> nbytes = pipeline.nbytes;  // twice around, so that places need no remainder
  if (P < members)
    nbytes.assign(P, *std::max_element(pipeline.nbytes.begin(), pipeline.nbytes.end()));
  nbytes.insert(nbytes.end(), nbytes.begin(), nbytes.end());
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
        taken_s[p] = ring.send(p, p + 1 < P ? p + 1 : 0, j, ready_s[p], nbytes[first + p]);
      }
      for (std::size_t p = 0; p < P; ++p) {
        const double received_s = std::max(ready_s[p], ring.arrive_s(p > 0 ? p - 1 : P - 1));
        ring.received(p, j, received_s);
        ready_s[p] = std::max(received_s, taken_s[p]);
        if (works) ready_s[p] += phase.work_s[p];
      }
    }
    for (double& at_s : ready_s) at_s += phase.after_s;
  }
  for (std::size_t p = P; p < members; ++p) ready_s.push_back(ready_s[p - P]);
  return ready_s;
}

std::vector<double> chain_ends_s(const Pipeline& pipeline, std::span<const PipelineEdge> edges,
                                 const Transport& transport, std::span<TcpWindow* const> windows) {
  const std::size_t last = edges.size();
  Edges chain(pipeline, edges, last + 1, transport, windows);
  // A member receives a message in one batch with the sending of the message before.
  std::vector<double> called_s = pipeline.starts_s, taken_s = pipeline.starts_s;
  const Pipeline::Phase& phase = pipeline.phases[0];
  for (std::size_t j = 0; j < static_cast<std::size_t>(phase.messages); ++j)
    for (std::size_t p = 0; p <= last; ++p) {
      double ready_s = taken_s[p];
      if (p > 0) {
        const double received_s = std::max(called_s[p], chain.arrive_s(p - 1));
        chain.received(p, j, received_s);
        ready_s = std::max(received_s, taken_s[p]);
        if (!phase.work_s.empty()) ready_s += phase.work_s[p];
      }
      called_s[p] = taken_s[p] = ready_s;
      if (p == last) continue;
      called_s[p] += chain.overhead_s(p);
      taken_s[p] = chain.send(p, p + 1, j, called_s[p], pipeline.nbytes[j]);
    }
  for (double& at_s : taken_s) at_s += phase.after_s;
  return taken_s;
}

}  // namespace trigram
