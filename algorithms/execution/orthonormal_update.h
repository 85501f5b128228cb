#pragma once

#include <cstdint>
#include <span>

#include "algorithms/collectives/collectives.h"
#include "algorithms/execution/exchange.h"

namespace trigram {

/// The options of an orthonormal update.
struct OrthonormalUpdate {
  double rank_fraction = 0.25;
  double momentum = 0.95;
  double beta1 = 0.9, beta2 = 0.95, eps = 1e-8;
  AllreduceSpec allreduce = {};
};

/// Replaces the gradients of a bucket by the update u of Dion (Ahn et al., arXiv 2504.05295,
/// Algorithm 3), the same on all ranks, for a step x - lr u. For every matrix of `a` outputs and
/// `b` inputs:
///
///   M_i = M_i + g_i;  P = orthonormalise(mean_j M_j Q);  R = mean_j M_j^T P
///   M_i = M_i - (1 - momentum) P R^T;  Q = R with columns of norm 1;  u = sqrt(a / b) P Q^T
///
/// For vectors, u is Adam's update along the mean gradient. A tensor of unknown shape, and a bucket
/// that does not know its tensors, is taken as a nearly square matrix. `state` keeps M, Q
/// and Adam's moments. All factors P of a bucket and its vectors are one allreduce, and all R.
Exchange orthonormal_update(const OrthonormalUpdate& options, std::span<const Bucket> buckets,
                            std::uint64_t seed, const TrainingState& state = {});

}  // namespace trigram
