#pragma once

#include <vector>

#include "algorithms/peers/registry.h"
#include "core/algorithm.h"

namespace trigram {

/// What a rank knows of its own and its peers' models when only coded differences travel: a replica
/// of each, which changes by what was decoded. The replicas of one model are equal on all ranks
/// that hold one, so the peers stay the same from step to step. Memory: one model, and one per
/// peer.
class Replicas {
 public:
  /// Of `weights`, which are equal on all ranks; for the peers of a fixed graph over those that
  /// exchange. A rank whose node leader exchanges for it has no peers.
  Replicas(Context ctx, Run& run, const PeerGraphSpec& graph, const Tensor& weights);
  /// Makes replicas of all weights at their present values.
  Replicas(Context ctx, Run& run, const PeerGraphSpec& graph)
      : Replicas(ctx, run, graph, run.workload.weights()) {}

  /// The own model, as the peers know it.
  const Tensor& own() const { return own_; }
  /// y += a sum over j of w_ij replica_j, the own one included.
  void add_mixed(Context ctx, float a, const Tensor& y) const;
  /// How replicas follow what is decoded: replica = kept replica + gain decoded.
  struct Follow {
    float kept = 1, gain = 1;
  };
  /// replica_j += Q(z_j), or as `follow` has it, of all peers and the own one: the code of `z` goes
  /// to every peer. (peers) C bytes, where C is the size of the code.
  void advance(Context ctx, const Tensor& z, Codec& codec, Follow follow);
  void advance(Context ctx, const Tensor& z, Codec& codec) { advance(ctx, z, codec, Follow{}); }

 private:
  Peers peers_;
  Tensor own_;
  std::vector<Tensor> others_;  // in the order of peers_.receive_from
};

}  // namespace trigram
