#include "algorithms/peers/grid_group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace trigram::test::grid_group_test {
namespace {

using Ranks = std::vector<int>;

TEST(GridGroup, IsALineOfTheGrid) {
  // 3 x 2 x 2: rank 7 is at (1, 0, 1).
  const std::vector<int> sides = {3, 2, 2};
  EXPECT_EQ(grid_group(7, 12, sides, 0), (Ranks{6, 7, 8}));
  EXPECT_EQ(grid_group(7, 12, sides, 1), (Ranks{7, 10}));
  EXPECT_EQ(grid_group(7, 12, sides, 2), (Ranks{1, 7}));
}

TEST(GridGroup, LeavesOutPositionsWithoutARank) {
  EXPECT_EQ(grid_group(6, 7, {3, 3}, 0), Ranks{6});
  EXPECT_EQ(grid_group(4, 7, {3, 3}, 1), (Ranks{1, 4}));
  EXPECT_EQ(grid_group(0, 7, {3, 3}, 1), (Ranks{0, 3, 6}));
}

TEST(GridGroup, WorksInGridsWithMorePositionsThanAnIntCounts) {
  const std::vector<int> sides = {1 << 20, 1 << 20, 2, 1 << 20};
  EXPECT_EQ(grid_group(3, 5, sides, 0), (Ranks{0, 1, 2, 3, 4}));
  for (const long axis : {1, 2, 3}) EXPECT_EQ(grid_group(3, 5, sides, axis), Ranks{3});
}

TEST(GridGroup, IsTheSameForAllItsMembers) {
  for (const int size : {5, 12, 17, 24})
    for (long axis = 0; axis < 3; ++axis)
      for (int rank = 0; rank < size; ++rank) {
        const Ranks group = grid_group(rank, size, {2, 3, 4}, axis);
        EXPECT_EQ(std::count(group.begin(), group.end(), rank), 1);
        for (const int member : group) EXPECT_EQ(grid_group(member, size, {2, 3, 4}, axis), group);
      }
}

TEST(GridSides, AreNearlyEqualFactors) {
  EXPECT_EQ(grid_sides(16, 2), (Ranks{4, 4}));
  EXPECT_EQ(grid_sides(12, 2), (Ranks{4, 3}));
  EXPECT_EQ(grid_sides(24, 3), (Ranks{3, 4, 2}));
  EXPECT_EQ(grid_sides(64, 3), (Ranks{4, 4, 4}));
  EXPECT_EQ(grid_sides(7, 2), (Ranks{7, 1}));
  EXPECT_EQ(grid_sides(1, 3), (Ranks{1, 1, 1}));
  for (int size = 1; size < 100; ++size)
    for (long dimensions = 1; dimensions < 5; ++dimensions) {
      const std::vector<int> sides = grid_sides(size, dimensions);
      EXPECT_EQ(std::ssize(sides), dimensions);
      EXPECT_EQ(std::accumulate(sides.begin(), sides.end(), 1, std::multiplies<>()), size);
    }
}

}  // namespace
}  // namespace trigram::test::grid_group_test
