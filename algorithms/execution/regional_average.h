#pragma once

#include "algorithms/execution/execution.h"

namespace trigram {

/// How much of a vector is averaged, k of its elements, and what for.
struct Regional {
  double density = 0.01;              // k over the number of elements
  double slack = 1.5;                 // room for a region's elements in a message, in shares k/P
  std::int64_t rebalance_every = 64;  // steps
};

/// Leaves the mean over the ranks of the k elements in which it is the largest, the others 0, the
/// same on all ranks (Ok-Topk, Li and Hoefler, arXiv 2201.07598): of what each rank finds largest,
/// every rank averages one region, and all ranks choose among the largest of all regions. With
/// v = x + e_i:
///
///   s_i = the k largest elements of v
///   m_j = 1/P sum_i (of s_i in region j the c largest)      at rank j, which sends its c largest
///   x = the k largest elements of m_1, ..., m_P;  e_i = v, but 0 where i has sent what x has
///
/// where c = ceil(slack k/P). Regions are cut anew every so many steps (BalancedRegions).
Exchange regional_average(const Regional& options);

}  // namespace trigram
