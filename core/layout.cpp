#include "core/layout.h"

namespace trigram {

Layout::Layout(int nodes, int workers_per_node, const Fabric& fabric) : fabric_(fabric) {
  int rank = 0;
  for (int node = 0; node < nodes; ++node) {
    auto& members = nodes_.emplace_back();
    leaders_.push_back(rank);
    for (int local = 0; local < workers_per_node; ++local) {
      members.push_back(rank++);
      node_of_.push_back(node);
    }
  }
}

}  // namespace trigram
