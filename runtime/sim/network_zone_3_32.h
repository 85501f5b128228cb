#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
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
#include "runtime/sim/shaper_3_32.h"

namespace trigram::sim {

/// The links of a network, and its routes, computed when asked for: memory is linear in the number
/// of links, and the latency of a route is what the description says, to the last bit. SimGrid's
/// own zones for trees, tori and dragonflies route in their own ways, and differ between versions.
class NetworkZone final : public simgrid::kernel::routing::NetZoneImpl {
  using StandardLinkImpl = simgrid::kernel::resource::StandardLinkImpl;

 public:
  /// Connections are limited to what they move at this rate.
  NetworkZone(const Network& network, Rate rate)
      : NetZoneImpl("network"),
        network_(network),
        rate_(rate),
        loopback_(link("loopback", network.loopback_bandwidth())) {
    loopback_->set_sharing_policy(simgrid::s4u::Link::SharingPolicy::FATPIPE);
    const double largest = network.widest_factor();
    links_.reserve(network.links().size());
    for (std::size_t id = 0; id < network.links().size(); ++id) {
      const Link& own = network.links()[id];
      if (own.unlimited()) {
        links_.push_back(nullptr);
        continue;
      }
      auto* made =
          link("link " + std::to_string(id), own.bandwidth_Bps * (own.varies ? largest : 1));
      links_.push_back(made->get_impl());
      if (own.shaped() || own.varies) changing_.emplace_back(&own, made);
      if (own.varies) changing_.back().second.set_bandwidth(own.bandwidth_Bps);
    }
    for (int rank = 0; rank < network.ranks(); ++rank) entries_.push_back(entries(rank));
    if (network.caps_connections(rate)) add_connections();
    for (int i = 0; i < kPaces; ++i)
      spare_paces_.push_back(link_of_each("pace " + std::to_string(i)));
  }

  /// By rank; then the ends of coupled flows; then, if `others`, those of whom traffic of others
  /// leaves, by rank.
  std::vector<simgrid::s4u::Host*> add_hosts(bool others) {
    std::vector<simgrid::s4u::Host*> hosts;
    for (int rank = 0; rank < network_.ranks() * (others ? 2 : 1) + 2; ++rank) {
      auto* host = get_iface()->create_host(std::to_string(rank), 1.0);
      TRIGRAM_CHECK(host->get_netpoint()->id() == static_cast<unsigned long>(rank),
                    "host {} has another place in its zone", rank);
      hosts.push_back(host);
    }
    for (int rank = 0; others && rank < network_.ranks(); ++rank)
      others_.push_back(unlimited("others " + std::to_string(rank)));
    get_iface()->seal();
    return hosts;
  }

  void get_local_route(const simgrid::kernel::routing::NetPoint* source,
                       const simgrid::kernel::routing::NetPoint* destination,
                       simgrid::kernel::routing::Route* route, double* latency) override {
    const auto from = source->id(), to = destination->id();
    auto& links = route->link_list_;
    if (is_coupled(from)) return route_coupled(links, latency);
    if (is_of_others(from)) return route_of_others(rank_of(from), to, links, latency);
    if (from == to) {
      links.push_back(loopback_->get_impl());
      told_s_ = 0;
      factor_ = 1;
      return;
    }
    route_.clear();
    network_.route(static_cast<int>(from), static_cast<int>(to), route_);
    links.reserve(links.size() + 1 + route_.size());
    links.push_back(entry(from));
    for (const LinkId id : route_)
      if (auto* own = links_[static_cast<std::size_t>(id)]) links.push_back(own);
    if (!spare_.empty())
      if (auto* own = connection(static_cast<int>(from), static_cast<int>(to)))
        links.push_back(own);
    if (latency) *latency += told(route_, latency_s_);
  }

  /// Starts a message whose latency is over in `latency_s`, which may not be that of its route.
  /// Dates that differ by less than SimGrid tells apart (surf/precision) are one.
  void start(simgrid::s4u::Comm& message, double latency_s) {
    constexpr double kPrecision_s = 1e-12;
    latency_s_ = latency_s < kPrecision_s ? 0 : latency_s;
    message.start();
    // SimGrid does not weigh a flow that has no latency left.
    if (latency_s_ == 0 && told_s_ > 0)
      network_model().get_started_action_set()->back().set_sharing_penalty(told_s_);
    latency_s_ = -1;
  }

  /// Token buckets at the links that have them.
  std::shared_ptr<Shaper> shaper() {
    if (shaper_) return shaper_;
    shaper_ = std::make_shared<Shaper>();
    for (const auto& [own, made] : changing_)
      if (own->shaped()) shaper_->add(*own, made);
    return shaper_;
  }

  /// Makes links that vary what they are from a change on.
  void change(const LinkChange& change) {
    latency_factor_ = change.latency_factor;
    for (auto& [own, made] : changing_)
      if (own->varies) made.set_bandwidth(change.bandwidth_factor * own->bandwidth_Bps);
  }

  /// What the next flow between the two hosts beyond the workers goes along.
  void couple(const CoupledRounds* rounds) { coupled_ = rounds; }

  /// Makes flows share links evenly, whatever their latencies.
  ///
  /// SimGrid weighs a flow by the inverse of its route's latency, before the latency is multiplied
  /// by its factor. So it is told a latency that is the same for all flows that can meet in a link:
  /// that of the route, or where topologies add to it, that by which messages leave. The factor
  /// makes of it what is left of the latency of the message that starts.
  void share_evenly() {
    const auto& links = network_.links();
    adds_latency_ =
        network_.mixes_levels() || std::any_of(links.begin(), links.end(), [this](const Link& own) {
          return own.latency_s > 0 &&
                 network_.vertex(own.from).kind == Vertex::Kind::network_switch;
        });
    even_ = true;
    get_iface()->get_network_model()->set_lat_factor_cb(
        [this](double, const simgrid::s4u::Host*, const simgrid::s4u::Host*, const auto&,
               const auto&) { return factor_; });
  }

 private:
  /// What SimGrid is told of the latency of a flow that starts, with `left_s` of it to come; all of
  /// it where that is negative.
  double told(const std::vector<LinkId>& route, double left_s) {
    const double natural_s = network_.latency(route, latency_factor_);
    const double latency_s = left_s >= 0 ? left_s : natural_s;
    told_s_ = adds_latency_ ? weight(route) : natural_s;
    if (told_s_ == 0 && latency_s > 0) told_s_ = 1;  // which is the weight of flows without any
    factor_ = told_s_ > 0 ? latency_s / told_s_ : 1;
    return even_ ? told_s_ : latency_s;
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
  bool is_of_others(std::size_t host) const { return host >= ranks() + 2; }
  std::size_t rank_of(std::size_t host) const {
    return is_of_others(host) ? host - ranks() - 2 : host;
  }
  /// No connection of ours limits it.
  void route_of_others(std::size_t from, std::size_t to, std::vector<StandardLinkImpl*>& links,
                       double* latency) {
    links.push_back(others_[from]);
    route_.clear();
    network_.route_of_others(static_cast<int>(from), static_cast<int>(to), route_);
    for (const LinkId id : route_)
      if (auto* own = links_[static_cast<std::size_t>(id)]) links.push_back(own);
    if (latency) *latency += told(route_, -1);
  }
  /// All links of a round, one that two messages pass twice, with the latency of a slowest message.
  void route_coupled(std::vector<StandardLinkImpl*>& links, double* latency) {
    const int source = coupled_->slowest_source();
    links.push_back(entry(static_cast<std::size_t>(source)));
    links.push_back(pace(coupled_->bandwidth() / coupled_->share()));
    for (const LinkId id : coupled_->links()) links.push_back(links_[static_cast<std::size_t>(id)]);
    route_.clear();
    network_.route(source, coupled_->slowest_destination(), route_);
    if (latency) *latency += told(route_, -1);
  }

  /// The latency of the link by which a message leaves; 1 where that has none and others have. A
  /// NIC's is another link's where messages reach the NIC by the ports of workers.
  double weight(const std::vector<LinkId>& route) const {
    double all_s = 0;
    for (const LinkId id : route) {
      const Link& own = network_.link(id);
      const Vertex::Kind kind = network_.vertex(own.from).kind;
      const bool leaves = kind != Vertex::Kind::network_switch &&
                          !(kind == Vertex::Kind::nic && network_.mixes_levels());
      if (all_s == 0 && own.latency_s > 0 && leaves) return own.latency_s;
      all_s += own.latency_s;
    }
    return all_s > 0 ? 1 : 0;
  }

  /// The limit of a connection, a link of its own, taken when its first message leaves: few of all
  /// pairs of workers ever talk. Links cannot be made any more then.
  StandardLinkImpl* connection(int source, int destination) {
    const auto [found, is_new] = connections_.try_emplace({source, destination}, nullptr);
    auto& own = found->second;
    if (!is_new) return own;
    const double cap_Bps = network_.connection_cap(source, destination, TrafficClass::collective,
                                                   rate_);  // computes a route
    if (std::isinf(cap_Bps)) return nullptr;
    TRIGRAM_CHECK(taken_ < spare_.size(),
                  "more than {} connections between nodes; remove the limits of connections from "
                  "the cluster's transport, or let fewer workers talk to each other",
                  spare_.size());
    own = spare_[taken_++]->set_bandwidth(cap_Bps)->get_impl();
    return own;
  }
  /// A limit of each coupled flow at this rate: SimGrid 3.32 forgets that of a flow between two
  /// hosts (Comm::set_rate). There are few rates, as there are few kinds of links.
  StandardLinkImpl* pace(double Bps) {
    auto& own = paces_[Bps];
    if (own) return own;
    TRIGRAM_CHECK(paces_.size() <= spare_paces_.size(), "coupled flows at more than {} rates",
                  kPaces);
    own = spare_paces_[paces_.size() - 1]->set_bandwidth(Bps)->get_impl();
    return own;
  }
  void add_connections() {
    constexpr std::size_t kMost = 100'000;  // some 50 MB
    const auto ranks = static_cast<std::size_t>(network_.ranks());
    while (spare_.size() < std::min(kMost, ranks * (ranks - 1)))
      spare_.push_back(link("connection " + std::to_string(spare_.size()), kUnlimited_Bps));
  }

  simgrid::s4u::Link* link(const std::string& name, double bandwidth_Bps) {
    return get_iface()->create_link(name, bandwidth_Bps);
  }

  /// Links without limits, one of which is the first of every route from a rank, in turns.
  ///
  /// When a flow starts, SimGrid's lazy solver looks for all that it affects from the first link of
  /// its route, and not at all if that link was affected at the same date before
  /// (System::update_modified_cnst_set_from_variable). With a NIC in its place, the second of two
  /// flows that start together could take more than the link at its far end has to give. A first
  /// link that no other flow passes is never affected before; so this is right as long as no rank
  /// has more messages under way than there are turns. Traffic of others, any number of flows, has
  /// a first link of its own by rank: no two of its flows start at the same date.
  struct Entries {
    std::array<StandardLinkImpl*, 16> links;
    std::size_t next = 0;
  };
  Entries entries(int rank) {
    Entries all;
    for (std::size_t i = 0; i < all.links.size(); ++i)
      all.links[i] = unlimited("entry " + std::to_string(rank) + " " + std::to_string(i));
    return all;
  }
  StandardLinkImpl* unlimited(const std::string& name) { return link_of_each(name)->get_impl(); }
  /// A link that flows do not share: its bandwidth, none at first, limits each.
  simgrid::s4u::Link* link_of_each(const std::string& name) {
    auto* created = link(name, kUnlimited_Bps);
    created->set_sharing_policy(simgrid::s4u::Link::SharingPolicy::FATPIPE);
    return created;
  }
  StandardLinkImpl* entry(std::size_t rank) {
    Entries& own = entries_[rank];
    return own.links[own.next++ % own.links.size()];
  }

  static constexpr double kUnlimited_Bps = 1e30;
  const Network& network_;
  const Rate rate_;
  std::vector<Entries> entries_;           // by rank
  std::vector<StandardLinkImpl*> others_;  // by rank: where traffic of others enters
  simgrid::s4u::Link* loopback_;
  std::vector<StandardLinkImpl*> links_;                          // null for those without limits
  std::vector<std::pair<const Link*, ChangingLink>> changing_;    // what is described, and made
  std::shared_ptr<Shaper> shaper_;                                // of those that are shaped
  std::map<std::pair<int, int>, StandardLinkImpl*> connections_;  // null for those without limits
  std::vector<simgrid::s4u::Link*> spare_;                        // limits: first those taken
  std::size_t taken_ = 0;
  static constexpr int kPaces = 1000;
  std::map<double, StandardLinkImpl*> paces_;     // of coupled flows, by rate
  std::vector<simgrid::s4u::Link*> spare_paces_;  // first those taken
  std::vector<LinkId> route_;               // scratch: routes are asked for with every message
  const CoupledRounds* coupled_ = nullptr;  // whose flow starts
  double latency_factor_ = 1;               // of links that vary, now
  double latency_s_ = -1;                   // of the message that starts; negative: of its route
  double told_s_ = 0, factor_ = 1;          // of its latency: see told()
  simgrid::kernel::resource::Model* model_ = nullptr;
  bool even_ = false;          // whether flows share links evenly
  bool adds_latency_ = false;  // whether topologies add to the latencies of nodes
};

}  // namespace trigram::sim
