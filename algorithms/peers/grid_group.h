#pragma once

#include <vector>

namespace trigram {

// Ranks on a grid with `sides` s_0, s_1, ...: the coordinate of rank r along axis k is r / (s_0 ...
// s_{k-1}) mod s_k. Neighbours along axis 0 are consecutive ranks.

/// The ranks below `size` that have the coordinates of `rank` along all axes but `axis`, in
/// ascending order, including `rank`. If the ranks do not fill the grid, these groups differ in
/// size. The product of the sides must be at least `size`.
std::vector<int> grid_group(int rank, int size, const std::vector<int>& sides, long axis);

/// `dimensions` sides whose product is `size`, as nearly equal as the divisors of `size` allow. If
/// `size` is a prime, one side is `size` and the other sides are 1.
std::vector<int> grid_sides(int size, long dimensions);

}  // namespace trigram
