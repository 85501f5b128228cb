#pragma once

#include "core/algorithm.h"
#include "core/layout.h"

namespace trigram {

/// The participants of a run's exchanges: all workers or, in hierarchical execution, the nodes,
/// each represented by its leader.
struct Participants {
  int count;
  const char* noun;  // plural, for error messages: "workers" or "nodes (execution is hierarchical)"
};

inline Participants participants(const Execution& execution, const Layout& layout) {
  if (execution.hierarchical)
    return {static_cast<int>(layout.nodes().size()), "nodes (execution is hierarchical)"};
  return {layout.ranks(), "workers"};
}

}  // namespace trigram
