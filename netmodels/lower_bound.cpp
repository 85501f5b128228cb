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
    double most = 0;
    for (std::size_t id = 0; id < loads_.size(); ++id)
      if (loads_[id].latency_s < kUnused)
        most = std::max(
            most, loads_[id].latency_s + loads_[id].bytes / network_.links()[id].bandwidth_Bps);
    return most;
  }

 private:
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
