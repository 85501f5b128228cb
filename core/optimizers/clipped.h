#pragma once

#include <memory>

#include "core/optimizer.h"

namespace trigram {

/// An optimizer that first clips the gradient by its global norm (Pascanu et al., arXiv 1211.5063,
/// Algorithm 1): g = g / max(1, |g| / max_norm), with the Euclidean norm over all buckets. The
/// gradient is the one that `optimizer` sees: after the exchange if gradients are exchanged, and
/// the rank's own gradient if it steps alone or exchanges moments.
///
/// The factor needs all gradients (Optimizer::needs_all_gradients). It is applied even if it is 1,
/// so that the time of a step does not depend on values. The norm reads the gradient once and
/// blocks the host; the scaling reads and writes the gradient. Neither the norm nor the factor is
/// communicated, because every rank that steps holds the whole gradient.
///
/// `max_norm` is positive and may be infinite. The caller owns `workload`, which holds the
/// gradients.
std::unique_ptr<Optimizer> clipped(std::unique_ptr<Optimizer> optimizer, Workload& workload,
                                   double max_norm);

}  // namespace trigram
