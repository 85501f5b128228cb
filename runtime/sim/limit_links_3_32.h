#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <simgrid/s4u/Link.hpp>
#include <utility>
#include <vector>

#include "core/check.h"
#include "netmodels/network/network.h"

// Links that only limit flows. They are created before a simulation, because links cannot be
// created during a simulation, and are assigned when a flow needs them.
namespace trigram::sim {

/// The links that limit connections. A connection takes a link at its first message, because few
/// pairs of workers ever exchange messages.
class ConnectionLinks {
  using StandardLinkImpl = simgrid::kernel::resource::StandardLinkImpl;

 public:
  /// `rate` selects the limits of connections.
  ConnectionLinks(const Network& network, Rate rate) : network_(network), rate_(rate) {}
  /// The number of links to add for this many ranks.
  static std::size_t most(std::size_t ranks) {
    constexpr std::size_t kMost = 100'000;  // about 50 MB
    return std::min(kMost, ranks * (ranks - 1));
  }
  void add(simgrid::s4u::Link* spare) { spare_.push_back(spare); }
  bool empty() const { return spare_.empty(); }

  /// The link that limits a connection; null if it has no limit.
  StandardLinkImpl* limit(int source, int destination) {
    const auto [found, is_new] = connections_.try_emplace({source, destination}, nullptr);
    auto& link = found->second;
    if (!is_new) return link;
    // This computes a route, so it is called once per connection.
    const double cap_Bps =
        network_.connection_cap(source, destination, TrafficClass::collective, rate_);
    if (std::isinf(cap_Bps)) return nullptr;
    TRIGRAM_CHECK(taken_ < spare_.size(),
                  "more than {} connections between nodes; remove the limits of connections from "
                  "the cluster's transport, or let fewer workers talk to each other",
                  spare_.size());
    link = spare_[taken_++]->set_bandwidth(cap_Bps)->get_impl();
    return link;
  }

 private:
  const Network& network_;
  const Rate rate_;
  std::map<std::pair<int, int>, StandardLinkImpl*> connections_;  // null: no limit
  std::vector<simgrid::s4u::Link*> spare_;                        // the first taken_ are in use
  std::size_t taken_ = 0;
};

/// The links that limit coupled flows to a rate, because SimGrid 3.32 ignores Comm::set_rate
/// between two hosts. There are few distinct rates, as there are few kinds of links.
class RateLinks {
  using StandardLinkImpl = simgrid::kernel::resource::StandardLinkImpl;

 public:
  static constexpr int kMost = 1000;
  /// `spare` limits each flow separately.
  void add(simgrid::s4u::Link* spare) { spare_.push_back(spare); }

  /// The link that limits each flow to this rate.
  StandardLinkImpl* limit(double Bps) {
    auto& link = links_[Bps];
    if (link) return link;
    TRIGRAM_CHECK(links_.size() <= spare_.size(), "coupled flows at more than {} rates", kMost);
    link = spare_[links_.size() - 1]->set_bandwidth(Bps)->get_impl();
    return link;
  }

 private:
  std::map<double, StandardLinkImpl*> links_;  // by rate
  std::vector<simgrid::s4u::Link*> spare_;     // the first links_.size() are in use
};

}  // namespace trigram::sim
