#include "netmodels/lower_bound.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/check.h"

namespace trigram {
namespace {

/// What the links that messages pass first must carry.
class Injection {
 public:
  explicit Injection(const Network& network) : network_(network), loads_(network.links().size()) {}

  void add(int rank, bool inside, std::uint64_t bytes) {
    links_.clear();
    network_.injection(rank, inside, links_);
    const double latency_s = network_.latency(links_);
    for (const LinkId id : links_) {
      Load& load = loads_[static_cast<std::size_t>(id)];
      load.bytes += static_cast<double>(bytes);
      load.latency_s = std::min(load.latency_s, latency_s);
    }
  }

  double seconds() const {
    const double latency_factor = least_latency_factor();
    double most = 0;
    for (std::size_t id = 0; id < loads_.size(); ++id)
      if (loads_[id].latency_s < kUnused)
        most = std::max(most, end_s(network_.links()[id], latency_factor * loads_[id].latency_s,
                                    loads_[id].bytes));
    return most;
  }

 private:
  /// When a link can have carried `bytes` at the earliest, from `start_s` on.
  double end_s(const Link& link, double start_s, double bytes) const {
    if (link.varies) return varying_end_s(link.bandwidth_Bps, start_s, bytes);
    const double burst_end_s = start_s + bytes / link.bandwidth_Bps;
    if (!link.shaped()) return burst_end_s;
    return std::max(burst_end_s, start_s + (bytes - link.credit_depth_bytes) / link.credit_Bps);
  }

  double varying_end_s(double bandwidth_Bps, double start_s, double bytes) const {
    double now_s = start_s, factor = 1;
    for (const LinkChange& change : network_.profile()) {
      const double carried = bandwidth_Bps * factor * (change.at_s - now_s);
      if (carried >= bytes) break;
      if (change.at_s > now_s) {
        bytes -= carried;
        now_s = change.at_s;
      }
      factor = change.bandwidth_factor;
    }
    return now_s + bytes / (bandwidth_Bps * factor);
  }

  double least_latency_factor() const {
    const auto profile = network_.profile();
    double least = profile.empty() || profile.front().at_s > 0 ? 1 : profile.front().latency_factor;
    for (const LinkChange& change : profile) least = std::min(least, change.latency_factor);
    return least;
  }

  static constexpr double kUnused = std::numeric_limits<double>::infinity();
  struct Load {
    double bytes = 0;
    double latency_s = kUnused;  // the least of those who send over the link
  };
  const Network& network_;
  std::vector<Load> loads_;  // by link
  std::vector<LinkId> links_;
};

}  // namespace

double lower_bound(const Network& network, std::span<const Traffic> ranks) {
  TRIGRAM_CHECK(ranks.size() == static_cast<std::size_t>(network.ranks()),
                "the traffic of {} ranks on a network of {}", ranks.size(), network.ranks());
  Injection injection(network);
  for (int rank = 0; rank < network.ranks(); ++rank) {
    const Traffic& sent = ranks[static_cast<std::size_t>(rank)];
    if (sent.messages_intra > 0) injection.add(rank, true, sent.bytes_intra);
    if (sent.messages_inter > 0) injection.add(rank, false, sent.bytes_inter);
  }
  return injection.seconds();
}

}  // namespace trigram
