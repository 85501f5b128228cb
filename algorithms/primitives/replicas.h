#pragma once

#include <vector>

#include "algorithms/peers/registry.h"
#include "core/algorithm.h"

namespace trigram {

/// A rank's replicas of its own model and of its peers' models, for methods that send only encoded
/// differences. A replica changes only by decoded differences, so all ranks that hold a replica of
/// a model hold the same one. The peers must therefore not change from step to step. Memory: one
/// model, and one per peer.
class Replicas {
 public:
  /// Coefficients of an update: replica = kept replica + gain decoded.
  struct Update {
    float kept, gain;
  };
  /// Replicas of `weights`, which must be equal on all ranks, for the peers of a fixed graph over
  /// the participants of the exchange. A rank whose node leader exchanges for it has no peers. The
  /// run's state keeps them; `part` tells the replicas of several parts of the model apart.
  Replicas(Context ctx, Run& run, const PeerGraphSpec& graph, const Tensor& weights, int part = 0);
  /// Replicas of all weights, at first at their present values.
  Replicas(Context ctx, Run& run, const PeerGraphSpec& graph)
      : Replicas(ctx, run, graph, run.workload.weights()) {}

  /// The replica of this rank's model, as the peers know it.
  const Tensor& own() const { return own_; }
  /// y += a sum over j of w_ij replica_j, including this rank's replica.
  void add_mixed(Context ctx, float a, const Tensor& y) const;
  /// Updates the replicas of all peers and of this rank with the decoded Q(z_j); by default,
  /// replica_j = replica_j + Q(z_j). Sends the code of `z` to every peer.
  void advance(Context ctx, const Tensor& z, Codec& codec, Update update = {.kept = 1, .gain = 1});

 private:
  Peers peers_;
  Tensor own_;
  std::vector<Tensor> peer_replicas_;  // in the order of peers_.receive_from
};

}  // namespace trigram
