#pragma once

#include <memory>

#include "core/cost.h"
#include "core/nn_ops.h"

namespace trigram {

/// Runs the operations of `inner` and charges each to `costs` by its FLOPs and the bytes of its
/// operands, in priced elements. An operation whose result has no priced elements costs nothing.
/// `inner` and `costs` must outlive the result.
std::unique_ptr<NnOps> timed_nn_ops(NnOps& inner, CostSink& costs);

}  // namespace trigram
