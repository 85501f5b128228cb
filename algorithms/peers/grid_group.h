#pragma once

#include <vector>

namespace trigram {

// Ranks on a grid of `sides` s_0, s_1, ...: along axis k rank r is at r / (s_0 ... s_{k-1}) mod
// s_k. Neighbours along axis 0 are consecutive ranks.

/// Those of `size` ranks that are where `rank` is along all axes but one, ascending, with itself.
/// Where ranks do not fill the grid such groups differ in size. The product of the sides is at
/// least `size`.
std::vector<int> grid_group(int rank, int size, const std::vector<int>& sides, long axis);

/// So many sides, as nearly equal as divisors of `size` are, whose product it is. Of a prime number
/// of ranks one side has them all, and the others have length 1.
std::vector<int> grid_sides(int size, long dimensions);

}  // namespace trigram
