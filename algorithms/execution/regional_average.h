#pragma once

#include "algorithms/execution/exchange.h"

namespace trigram {

/// How much of a vector is averaged, k of its elements, and what for.
struct Regional {
  double density = 0.01;              // k over the number of elements
  double slack = 1.5;                 // room for a region's elements in a message, in shares k/P
  std::int64_t threshold_every = 32;  // steps
  std::int64_t rebalance_every = 64;  // steps
};

/// Leaves the mean over the ranks of about the k elements in which it is the largest, the others 0,
/// the same on all ranks (Ok-Topk, Li and Hoefler, arXiv 2201.07598): of what each rank finds
/// large, every rank averages one region, and all ranks take what is large of all regions. With v =
/// x + e_i:
///
///   s_i = the elements of v above the rank's own threshold; of each region the c largest
///
///   m_j = 1/P sum_i (s_i in region j)
///
///   x = of m_1, ..., m_P the elements above a common threshold; of each region the c largest
///
///   e_i = v, but 0 where both s_i and x have an element
///
/// where c = ceil(slack k/P). Every `threshold_every` steps the thresholds are such that k elements
/// of v reach the one, and of what is sent of m_1, ..., m_P the other; in between they are
/// corrected (Threshold). Regions are cut anew every `rebalance_every` steps (BalancedRegions).
Exchange regional_average(const Regional& options);

}  // namespace trigram
