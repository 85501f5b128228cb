#pragma once

#include <array>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/collective_pricer.h"
#include "netmodels/coupled_rounds.h"

namespace trigram {

/// The load on a network when ranks send any messages to any others, all at once: Valiant's
/// h-relation ("A bridging model for parallel computation", CACM 33(8), 1990). In Valiant's model
/// the time is that of the rank that sends or receives the most; here it is that of the most loaded
/// link.
///
/// The model assumes that the most loaded link is busy until the end. Under max-min fairness that
/// link may have to wait for flows that other links slow down, which takes slightly longer.
class HRelation {
 public:
  /// For messages of the class `traffic`. The caller owns the network and the cluster.
  HRelation(const Network& network, const Cluster& cluster, TrafficClass traffic);
  /// Adds the messages of `source`.
  void add(int source, std::span<const CollectivePattern::Sent> sent);

  /// A single flow that represents all messages, and its size in bytes. It passes each link of
  /// `all` (of shape CollectivePattern::h_relation) as often as the link's load requires, in units
  /// of a 128th of the most loaded link's load, rounded up. If any message goes between nodes,
  /// messages inside nodes are left out.
  struct Flow {
    CoupledRounds links;
    double bytes;
  };
  Flow flow(const CoupledRounds& all) const;
  /// Seconds before messages move: the transport's stage overhead if any message goes between
  /// nodes, else 0.
  double overhead_s() const { return overhead_s_; }
  /// The window of the connection from one rank to another; `answers` selects the connection for
  /// answers.
  using WindowOf = std::function<TcpWindow&(int source, int destination, bool answers)>;
  /// The least time in seconds that the messages need if they start at `start_s`, given the
  /// described links and all connections with their windows.
  double least_s(double start_s, const WindowOf& window_of) const;

 private:
  /// All messages from one rank to another.
  struct Connection {
    int source, destination;
    /// [0]: ordinary messages; [1]: answers, which have their own window.
    std::array<double, 2> nbytes = {};
    double busy_s = 0;
    double longest_s = 0;  // seconds of the slowest single message
  };
  double fullest_s(const std::vector<double>& load) const;
  double connection_s(const Connection& connection, double start_s,
                      const WindowOf& window_of) const;

  const Network& network_;
  const Cluster& cluster_;
  const TrafficClass traffic_;
  // Bytes by link, divided by the pattern's efficiency: of all messages, and of messages between
  // nodes.
  std::vector<double> all_, between_;
  bool any_between_ = false;
  double overhead_s_ = 0;
  std::vector<Connection> connections_;  // only between nodes, and only if connections have limits
  std::unordered_map<int, std::size_t> place_;  // scratch: index of the connection, by destination
  std::vector<LinkId> route_;                   // scratch
};

}  // namespace trigram
