#pragma once

#include <array>

#include "experiments/config/sweep.h"

namespace trigram {

/// Options of algorithms that only clusters of several nodes have a use for.
constexpr std::array kOfNodes = {"hierarchical", "segment"};

/// Whether the cluster of an experiment has a single node.
bool is_for_one_node(const SweepPoint& point);

/// Makes an experiment for one node one without `hierarchical`: there, it reduces to one leader at
/// full precision, and the exchange that the algorithm is about, among leaders, never happens.
/// Returns whether it was hierarchical.
bool make_plain(SweepPoint& point);

/// What advice says of it.
constexpr const char* kComparedPlain =
    "the cluster has one node, where hierarchical=true has nobody to exchange with but the node's "
    "own leader: candidates are compared without it";

}  // namespace trigram
