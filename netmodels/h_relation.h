#pragma once

#include <span>
#include <vector>

#include "core/communicator.h"
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
  HRelation(const Network& network, const Cluster& cluster, Pattern traffic);
  /// The messages of `source`.
  void add(int source, std::span<const Rounds::Sent> sent);

  /// One flow for all messages, and its bytes: it passes each link of `all`, of Rounds::h_relation,
  /// as many times as make up what the link has to carry, in 64ths of the fullest, rounded up.
  /// Where any message passes between nodes, those inside are left out.
  struct Flow {
    CoupledRounds links;
    double bytes;
  };
  Flow flow(const CoupledRounds& all) const;
  /// Seconds before messages move: what the rank with the most messages spends on them.
  double overhead_s() const { return overhead_s_; }
  /// Seconds that they move at least: for every link as it is described, and every connection.
  double least_s() const;

 private:
  double fullest_s(const std::vector<double>& load) const;

  const Network& network_;
  const Cluster& cluster_;
  const Pattern traffic_;
  // Bytes by link, with those that the pattern's efficiency adds: of all messages, and of those
  // between nodes.
  std::vector<double> all_, between_;
  bool any_between_ = false;
  double overhead_s_ = 0, connections_s_ = 0;
  std::vector<double> to_s_;   // scratch: seconds of the connection to each destination
  std::vector<LinkId> route_;  // scratch
};

}  // namespace trigram
