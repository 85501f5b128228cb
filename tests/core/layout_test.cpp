#include "core/layout.h"

#include <gtest/gtest.h>

namespace trigram::layout_test {
namespace {

TEST(Layout, NumbersRanksNodeByNode) {
  const Layout layout(3, 2);
  EXPECT_EQ(layout.ranks(), 6);
  EXPECT_EQ(layout.nodes(), (std::vector<std::vector<int>>{{0, 1}, {2, 3}, {4, 5}}));
  EXPECT_EQ(layout.leaders(), (std::vector<int>{0, 2, 4}));
  for (int rank = 0; rank < 6; ++rank) {
    EXPECT_EQ(layout.node_of(rank), rank / 2);
    EXPECT_EQ(layout.is_leader(rank), rank % 2 == 0);
    EXPECT_EQ(layout.node_members(rank).front(), rank - rank % 2);
  }
  EXPECT_TRUE(layout.same_node(2, 3));
  EXPECT_FALSE(layout.same_node(1, 2));
}

TEST(Layout, OfOneWorkerPerNodeHasLeadersOnly) {
  const Layout layout(4, 1);
  EXPECT_EQ(layout.leaders(), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_FALSE(layout.same_node(0, 1));
}

TEST(Layout, IsEmptyByDefault) { EXPECT_EQ(Layout().ranks(), 0); }

}  // namespace
}  // namespace trigram::layout_test
