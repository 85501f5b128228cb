#pragma once

#include "algorithms/execution/exchange.h"

namespace trigram {

/// The size and the update intervals of a regional average of k elements of a vector.
struct Regional {
  double density = 0.01;  // k over the number of elements
  double slack = 1.5;     // room for a region's elements in a message, as a multiple of k/P
  std::int64_t threshold_every = 32;  // exact thresholds once in so many steps
  std::int64_t rebalance_every = 64;  // new region boundaries once in so many steps
};

/// Computes the mean over the ranks for about k elements, those with the largest means, and 0 for
/// all other elements; the same on all ranks (Ok-Topk, Li and Hoefler, arXiv 2201.07598). Every
/// rank averages one region of the elements that the ranks select, and all ranks keep the large
/// elements of all regions. With v = x + e_i:
///
///   s_i = the elements of v above the rank's own threshold; of each region the c largest
///
///   m_j = 1/P sum_i (s_i in region j)
///
///   x = of m_1, ..., m_P the elements above a common threshold; of each region the c largest
///
///   e_i = v, but 0 where both s_i and x have an element
///
/// where c = ceil(slack k/P). Every `threshold_every` steps the thresholds are exact: k elements of
/// v reach the rank's own threshold, and k of the elements of m_1, ..., m_P that are sent reach the
/// common one. In the other steps the thresholds are corrected (see Threshold). The region
/// boundaries are recomputed every `rebalance_every` steps (BalancedRegions).
Exchange regional_average(const Regional& options);

}  // namespace trigram
