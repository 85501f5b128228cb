#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/check.h"
#include "netmodels/coupled_rounds.h"
#include "netmodels/network/network.h"
#include "runtime/sim/limit_links_3_32.h"
#include "runtime/sim/shaper_3_32.h"

namespace trigram::sim {

/// The links and routes of a network. Routes are computed on demand, so memory is linear in the
/// number of links. Their latencies equal the described ones to the last bit. SimGrid's own zones
/// for trees, tori and dragonflies use other routes, which differ between versions.
class NetworkZone final : public simgrid::kernel::routing::NetZoneImpl {
  using StandardLinkImpl = simgrid::kernel::resource::StandardLinkImpl;

 public:
  /// `rate` selects the limits of connections.
  NetworkZone(const Network& network, Rate rate)
      : NetZoneImpl("network"),
        network_(network),
        connections_(network, rate),
        loopback_(link("loopback", network.loopback_bandwidth())) {
    loopback_->set_sharing_policy(simgrid::s4u::Link::SharingPolicy::FATPIPE);
    const double largest = network.largest_bandwidth_factor();
    links_.reserve(network.links().size());
    for (std::size_t id = 0; id < network.links().size(); ++id) {
      const Link& described = network.links()[id];
      if (described.unlimited()) {
        links_.push_back(nullptr);
        continue;
      }
      auto* created = link("link " + std::to_string(id),
                           described.bandwidth_Bps * (described.varies ? largest : 1));
      links_.push_back(created->get_impl());
      if (described.shaped() || described.varies) changing_.emplace_back(&described, created);
      if (described.varies) changing_.back().second.set_bandwidth(described.bandwidth_Bps);
    }
    for (int rank = 0; rank < network.ranks(); ++rank) entries_.push_back(create_entries(rank));
    if (network.caps_connections(rate)) {
      const std::size_t count = ConnectionLinks::most(ranks());
      for (std::size_t i = 0; i < count; ++i)
        connections_.add(link("connection " + std::to_string(i), kUnlimited_Bps));
    }
    for (int i = 0; i < RateLinks::kMost; ++i)
      rate_limits_.add(per_flow_link("pace " + std::to_string(i)));
  }

  /// Returns one host per rank; then the two end points of coupled flows; then, if `background`,
  /// the sources of background traffic, one per rank.
  std::vector<simgrid::s4u::Host*> add_hosts(bool background) {
    std::vector<simgrid::s4u::Host*> hosts;
    for (int rank = 0; rank < network_.ranks() * (background ? 2 : 1) + 2; ++rank) {
      auto* host = get_iface()->create_host(std::to_string(rank), 1.0);
      TRIGRAM_CHECK(host->get_netpoint()->id() == static_cast<unsigned long>(rank),
                    "host {} has another place in its zone", rank);
      hosts.push_back(host);
    }
    for (int rank = 0; background && rank < network_.ranks(); ++rank)
      background_entries_.push_back(unlimited("others " + std::to_string(rank)));
    get_iface()->seal();
    return hosts;
  }

  void get_local_route(const simgrid::kernel::routing::NetPoint* source,
                       const simgrid::kernel::routing::NetPoint* destination,
                       simgrid::kernel::routing::Route* route, double* latency) override {
    const auto from = source->id(), to = destination->id();
    auto& links = route->link_list_;
    if (is_coupled(from)) return route_coupled(links, latency);
    if (is_background(from)) return route_of_others(rank_of(from), to, links, latency);
    if (from == to) {
      links.push_back(loopback_->get_impl());
      declared_s_ = 0;
      factor_ = 1;
      return;
    }
    route_.clear();
    network_.route(static_cast<int>(from), static_cast<int>(to), route_);
    links.reserve(links.size() + 1 + route_.size());
    links.push_back(entry(from));
    add_limited(route_, links);
    if (!connections_.empty())
      if (auto* limit = connections_.limit(static_cast<int>(from), static_cast<int>(to)))
        links.push_back(limit);
    if (latency) *latency += declared_latency(route_, latency_s_);
  }

  /// Starts a message whose latency ends in `latency_s` seconds, whatever the latency of its route.
  /// Dates closer than SimGrid's precision (surf/precision) count as equal.
  void start(simgrid::s4u::Comm& message, double latency_s) {
    constexpr double kPrecision_s = 1e-12;
    latency_s_ = latency_s < kPrecision_s ? 0 : latency_s;
    message.start();
    // SimGrid gives no weight to a flow without latency, so its weight is set here.
    if (latency_s_ == 0 && declared_s_ > 0)
      network_model().get_started_action_set()->back().set_sharing_penalty(declared_s_);
    latency_s_ = -1;
  }

  /// The flow of a message that moves. Simulation::suspend suspends this flow instead of the
  /// activity, because SimGrid's Activity::resume does not reset the flag that makes
  /// Activity::suspend do nothing.
  simgrid::kernel::resource::Action& flow_of(const simgrid::s4u::Comm& message) {
    auto& flows = *network_model().get_started_action_set();
    const auto found = std::find_if(flows.begin(), flows.end(), [&](const auto& flow) {
      return flow.get_activity() == message.get_impl();
    });
    TRIGRAM_CHECK(found != flows.end(), "a message that moves has no flow");
    return *found;
  }

  /// The token buckets of all links that have one.
  std::shared_ptr<Shaper> shaper() {
    if (shaper_) return shaper_;
    shaper_ = std::make_shared<Shaper>();
    for (const auto& [described, changing] : changing_)
      if (described->shaped()) shaper_->add(*described, changing);
    return shaper_;
  }

  /// Applies a change to the links that vary.
  void change(const LinkChange& change) {
    latency_factor_ = change.latency_factor;
    for (auto& [described, changing] : changing_)
      if (described->varies)
        changing.set_bandwidth(change.bandwidth_factor * described->bandwidth_Bps);
  }

  /// Selects the links of the next flow between the two end points of coupled flows.
  void couple(const CoupledRounds* rounds) { coupled_ = rounds; }

  /// Makes flows share links evenly, independent of their latencies.
  ///
  /// SimGrid weighs a flow by the inverse of its route's latency, before it multiplies the latency
  /// by a factor. So SimGrid is given a latency that is equal for all flows that can share a link:
  /// that of the route or, if the topology adds latencies, that of the link by which the message
  /// leaves. The factor turns this value into the remaining latency of the message that starts.
  void share_evenly() {
    const auto& links = network_.links();
    adds_latency_ = network_.mixes_levels() ||
                    std::any_of(links.begin(), links.end(), [this](const Link& described) {
                      return described.latency_s > 0 &&
                             network_.vertex(described.from).kind == Vertex::Kind::network_switch;
                    });
    even_ = true;
    get_iface()->get_network_model()->set_lat_factor_cb(
        [this](double, const simgrid::s4u::Host*, const simgrid::s4u::Host*, const auto&,
               const auto&) { return factor_; });
  }

 private:
  /// The latency that SimGrid is given for a flow that starts (see share_evenly). `left_s` is the
  /// remaining latency; if it is negative, the latency of the whole route remains.
  double declared_latency(const std::vector<LinkId>& route, double left_s) {
    const double natural_s = network_.latency(route, latency_factor_);
    const double latency_s = left_s >= 0 ? left_s : natural_s;
    declared_s_ = adds_latency_ ? weight(route) : natural_s;
    if (declared_s_ == 0 && latency_s > 0)
      declared_s_ = 1;  // the weight that SimGrid gives to flows without latency
    factor_ = declared_s_ > 0 ? latency_s / declared_s_ : 1;
    return even_ ? declared_s_ : latency_s;
  }
  simgrid::kernel::resource::Model& network_model() {
    if (!model_)
      for (auto* model : simgrid::s4u::Engine::get_instance()->get_all_models())
        if (model->get_name().starts_with("Network_")) model_ = model;
    TRIGRAM_CHECK(model_, "SimGrid has no network model");
    return *model_;
  }
  std::size_t ranks() const { return static_cast<std::size_t>(network_.ranks()); }
  bool is_coupled(std::size_t host) const { return host >= ranks() && host < ranks() + 2; }
  bool is_background(std::size_t host) const { return host >= ranks() + 2; }
  std::size_t rank_of(std::size_t host) const {
    return is_background(host) ? host - ranks() - 2 : host;
  }
  /// Adds the links of a route that have a limit.
  void add_limited(const std::vector<LinkId>& route, std::vector<StandardLinkImpl*>& links) const {
    for (const LinkId id : route)
      if (auto* limited = links_[static_cast<std::size_t>(id)]) links.push_back(limited);
  }
  /// The route of background traffic; the job's connection limits do not apply to it.
  void route_of_others(std::size_t from, std::size_t to, std::vector<StandardLinkImpl*>& links,
                       double* latency) {
    links.push_back(background_entries_[from]);
    route_.clear();
    network_.background_route(static_cast<int>(from), static_cast<int>(to), route_);
    add_limited(route_, links);
    if (latency) *latency += declared_latency(route_, -1);
  }
  /// Adds the links of a round, each as often as messages use it. The latency is that of the
  /// slowest message.
  void route_coupled(std::vector<StandardLinkImpl*>& links, double* latency) {
    const int source = coupled_->slowest_source();
    links.push_back(entry(static_cast<std::size_t>(source)));
    links.push_back(rate_limits_.limit(coupled_->bandwidth() / coupled_->share()));
    for (const LinkId id : coupled_->links()) links.push_back(links_[static_cast<std::size_t>(id)]);
    route_.clear();
    network_.route(source, coupled_->slowest_destination(), route_);
    if (latency) *latency += declared_latency(route_, -1);
  }

  /// The latency of the link by which a message leaves, or 1 if only other links have a latency. If
  /// messages reach the NIC through the ports of workers, the NIC's link does not count.
  double weight(const std::vector<LinkId>& route) const {
    double all_s = 0;
    for (const LinkId id : route) {
      const Link& described = network_.link(id);
      const Vertex::Kind kind = network_.vertex(described.from).kind;
      const bool leaves = kind != Vertex::Kind::network_switch &&
                          !(kind == Vertex::Kind::nic && network_.mixes_levels());
      if (all_s == 0 && described.latency_s > 0 && leaves) return described.latency_s;
      all_s += described.latency_s;
    }
    return all_s > 0 ? 1 : 0;
  }

  simgrid::s4u::Link* link(const std::string& name, double bandwidth_Bps) {
    return get_iface()->create_link(name, bandwidth_Bps);
  }

  /// Links without limits. Every route from a rank begins with one of the rank's entries;
  /// successive routes use successive entries.
  ///
  /// When a flow starts, SimGrid's lazy solver searches for affected flows from the first link of
  /// its route, and skips the search if that link was already affected at the same date
  /// (System::update_modified_cnst_set_from_variable). If the first link were a NIC, the second of
  /// two flows that start together could exceed the bandwidth of the last link of its route. If no
  /// other flow uses the first link, it was not affected before. So the result is correct as long
  /// as no rank has more messages in flight than entries. Background traffic has any number of
  /// flows but only one entry per rank, because no two of its flows start at the same date.
  struct Entries {
    std::array<StandardLinkImpl*, 16> links;
    std::size_t next = 0;
  };
  Entries create_entries(int rank) {
    Entries created;
    for (std::size_t i = 0; i < created.links.size(); ++i)
      created.links[i] = unlimited("entry " + std::to_string(rank) + " " + std::to_string(i));
    return created;
  }
  StandardLinkImpl* unlimited(const std::string& name) { return per_flow_link(name)->get_impl(); }
  /// Creates a link whose bandwidth is unlimited at first and applies to each flow separately.
  simgrid::s4u::Link* per_flow_link(const std::string& name) {
    auto* created = link(name, kUnlimited_Bps);
    created->set_sharing_policy(simgrid::s4u::Link::SharingPolicy::FATPIPE);
    return created;
  }
  StandardLinkImpl* entry(std::size_t rank) {
    Entries& entries = entries_[rank];
    return entries.links[entries.next++ % entries.links.size()];
  }

  static constexpr double kUnlimited_Bps = 1e30;
  const Network& network_;
  ConnectionLinks connections_;
  std::vector<Entries> entries_;                       // by rank
  std::vector<StandardLinkImpl*> background_entries_;  // by rank: entries of background traffic
  simgrid::s4u::Link* loopback_;
  std::vector<StandardLinkImpl*> links_;                        // null for unlimited links
  std::vector<std::pair<const Link*, ChangingLink>> changing_;  // links with their descriptions
  std::shared_ptr<Shaper> shaper_;                              // of the links with token buckets
  RateLinks rate_limits_;                                       // of coupled flows
  std::vector<LinkId> route_;               // scratch, because every message needs a route
  const CoupledRounds* coupled_ = nullptr;  // the pattern of the next coupled flow
  double latency_factor_ = 1;               // current factor of links that vary
  double latency_s_ = -1;               // latency of the next message; negative: that of its route
  double declared_s_ = 0, factor_ = 1;  // see declared_latency()
  simgrid::kernel::resource::Model* model_ = nullptr;
  bool even_ = false;          // flows share links evenly
  bool adds_latency_ = false;  // the topology has latencies besides that between nodes
};

}  // namespace trigram::sim
