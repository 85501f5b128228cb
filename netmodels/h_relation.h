#pragma once

#include <array>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/collective_pricer.h"
#include "netmodels/coupled_rounds.h"

namespace trigram {

/// What a network has to carry when ranks send any messages to any others, all at once: Valiant's
/// h-relation ("A bridging model for parallel computation", CACM 33(8), 1990), whose time is that
/// of the rank with the most to send or to receive; here, of the link.
///
/// The fullest link is taken to be busy until the end. Where messages share links by max-min
/// fairness, it may have to wait for flows that others hold up, which takes a little longer.
class HRelation {
 public:
  /// Of messages that are part of `traffic`. The caller keeps the network and the cluster.
  HRelation(const Network& network, const Cluster& cluster, TrafficClass traffic);
  /// The messages of `source`.
  void add(int source, std::span<const CollectivePattern::Sent> sent);

  /// One flow for all messages, and its bytes: it passes each link of `all`, of
  /// CollectivePattern::h_relation, as many times as make up what the link has to carry, to a 128th
  /// of the fullest and never less. Where any message passes between nodes, those inside are left
  /// out.
  struct Flow {
    CoupledRounds links;
    double bytes;
  };
  Flow flow(const CoupledRounds& all) const;
  /// Seconds before messages move: what the rank with the most messages spends on them.
  double overhead_s() const { return overhead_s_; }
  /// The window of the connection that leads from one rank to another, or has its answers.
  using WindowOf = std::function<TcpWindow&(int source, int destination, bool answers)>;
  /// Seconds that they move at least when they start at this date: for every link as it is
  /// described, and every connection, with its window.
  double least_s(double start_s, const WindowOf& window_of) const;

 private:
  /// What one rank sends to another.
  struct Connection {
    int source, destination;
    std::array<double, 2> nbytes = {};  // answers are the second, which have windows of their own
    double busy_s = 0;
    double longest_s = 0;  // of a message that is slower than the connection
  };
  double fullest_s(const std::vector<double>& load) const;
  double connection_s(const Connection& connection, double start_s,
                      const WindowOf& window_of) const;

  const Network& network_;
  const Cluster& cluster_;
  const TrafficClass traffic_;
  // Bytes by link, with those that the pattern's efficiency adds: of all messages, and of those
  // between nodes.
  std::vector<double> all_, between_;
  bool any_between_ = false;
  double overhead_s_ = 0;
  std::vector<Connection> connections_;         // of limited ones between nodes
  std::unordered_map<int, std::size_t> place_;  // scratch: of a source's connections among them
  std::vector<LinkId> route_;                   // scratch
};

}  // namespace trigram
