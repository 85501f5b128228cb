#pragma once

#include <array>

#include "experiments/config/sweep.h"

namespace trigram {

/// Algorithm options that are meant for several nodes.
constexpr std::array kMultiNodeOptions = {"hierarchical", "segment"};

/// True if the cluster of an experiment has a single node.
bool is_single_node(const SweepPoint& point);

/// Removes the options of a hierarchy from an experiment for one node, where a hierarchical run
/// would only reduce to the node's leader at full precision: the algorithm's own exchange, among
/// leaders, would never happen. Returns true if the experiment was hierarchical.
bool remove_hierarchy(SweepPoint& point);

/// The sentence that reports this change.
constexpr const char* kHierarchyRemovedNote =
    "the cluster has one node, whose leader has no other leader to exchange with under "
    "hierarchical=true: candidates are compared without hierarchical=true";

}  // namespace trigram
