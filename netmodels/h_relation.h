#pragma once

#include <array>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/collective_pricer.h"
#include "netmodels/coupled_rounds.h"

namespace trigram {

/// The load on a network when any ranks send messages to any other ranks, all at once: Valiant's
/// h-relation ("A bridging model for parallel computation", CACM 33(8), 1990). In Valiant's model,
/// the rank that sends or receives the most bytes determines the time; here, the most loaded link
/// does.
///
/// The model assumes that the most loaded link is never idle before the end. Under max-min fairness
/// it may be idle while other links slow its flows down, and the messages then take slightly
/// longer.
class HRelation {
 public:
  /// For messages of the class `traffic`. The caller owns the network and the cluster.
  HRelation(const Network& network, const Cluster& cluster, TrafficClass traffic);
  /// Adds the messages of `source`.
  void add(int source, std::span<const CollectivePattern::Sent> sent);

  /// A single flow that represents all messages. It passes each link several times, in proportion
  /// to the link's load: the most loaded link 128 times, other links rounded up. If any message
  /// goes between nodes, messages inside nodes are left out.
  struct Flow {
    CoupledRounds links;
    double bytes;  // size of the flow
  };
  /// `rounds` has the shape CollectivePattern::h_relation and holds the links of all messages.
  Flow flow(const CoupledRounds& rounds) const;
  /// Seconds before messages move: the transport's stage overhead if any message goes between
  /// nodes, else 0.
  double overhead_s() const { return overhead_s_; }
  /// The window of the connection from one rank to another; `answers` selects the connection for
  /// answers.
  using WindowOf = std::function<TcpWindow&(int source, int destination, bool answers)>;
  /// The least time in seconds that the messages need if they start at `start_s`: the limit of the
  /// most loaded link and of every connection with its window.
  double min_duration_s(double start_s, const WindowOf& window_of) const;

 private:
  /// All messages from one rank to another.
  struct Connection {
    int source, destination;
    /// [0]: ordinary messages; [1]: answers, which have their own window.
    std::array<double, 2> nbytes = {};
    double busy_s = 0;
    double longest_s = 0;  // seconds that the slowest message takes alone
  };
  /// Seconds that the most loaded link takes for its load.
  double longest_link_s(const std::vector<double>& load) const;
  double connection_s(const Connection& connection, double start_s,
                      const WindowOf& window_of) const;

  const Network& network_;
  const Cluster& cluster_;
  const TrafficClass traffic_;
  // Bytes by link, divided by the pattern's efficiency.
  std::vector<double> load_, inter_node_load_;  // of all messages; of messages between nodes
  bool any_inter_node_ = false;
  double overhead_s_ = 0;
  std::vector<Connection> connections_;  // only between nodes, and only if connections have limits
  // Scratch memory.
  std::unordered_map<int, std::size_t> connection_to_;  // index of the connection, by destination
  std::vector<LinkId> route_;
};

}  // namespace trigram
