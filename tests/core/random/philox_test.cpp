#include "core/random/philox.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/check.h"

namespace trigram::test::philox_test {
namespace {

struct KnownAnswer {
  Philox::Block counter;
  Philox::Key key;
  Philox::Block expected;
};

// The values of "philox4x32 10" in the file kat_vectors of Random123, the authors' own library.
TEST(Philox, GivesTheKnownAnswersOfRandom123) {
  const KnownAnswer answers[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const auto& [counter, key, expected] : answers) {
    EXPECT_EQ(Philox::encrypt(counter, key), expected);
  }
}

TEST(Philox, EveryPartOfTheKeyMatters) {
  const auto first = [](std::uint64_t seed, int rank, long step, Purpose purpose) {
    return Philox(seed, rank, step, purpose).block(0);
  };
  const std::set<Philox::Block> blocks = {
      first(1, 2, 3, Purpose::weights),
      first(2, 2, 3, Purpose::weights),
      first(1 + (1ull << 32), 2, 3, Purpose::weights),
      first(1, 3, 3, Purpose::weights),
      first(1, 2, 4, Purpose::weights),
      first(1, 2, 3 + (1l << 32), Purpose::weights),
      first(1, 2, 3, Purpose::codec),
  };
  EXPECT_EQ(blocks.size(), 7u);
}

TEST(Philox, DrawsAreTheWordsOfTheBlocks) {
  Philox sequence(7, 0, 0, Purpose::data_set);
  for (std::uint32_t index = 0; index < 3; ++index) {
    const Philox::Block block = Philox(7, 0, 0, Purpose::data_set).block(index);
    for (std::uint32_t word : block) EXPECT_EQ(sequence.bits(), word);
  }
}

TEST(Philox, UniformsFillTheUnitInterval) {
  Philox random(1, 0, 0, Purpose::data_set);
  constexpr int kDraws = 100000;
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    ASSERT_EQ(u * (1 << 24), static_cast<int>(u * (1 << 24)));
    sum += u;
    squares += u * u;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 5e-3);  // five standard errors
  EXPECT_NEAR(squares / kDraws, 1.0 / 3, 5e-3);
}

TEST(Philox, NormalsHaveTheMomentsOfANormal) {
  Philox random(1, 0, 0, Purpose::gradient_noise);
  constexpr int kDraws = 200000;
  double moments[5] = {};
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    ASSERT_LT(std::abs(x), 4.9);
    double power = 1;
    for (double& moment : moments) {
      moment += power / kDraws;
      power *= x;
    }
  }
  EXPECT_NEAR(moments[1], 0, 0.012);
  EXPECT_NEAR(moments[2], 1, 0.016);
  EXPECT_NEAR(moments[3], 0, 0.04);
  EXPECT_NEAR(moments[4], 2.85, 0.1);  // 3 - 1.2 / 8 for eight uniforms
}

TEST(Philox, BoundedIntegersAreUniform) {
  Philox random(3, 0, 0, Purpose::peers);
  std::map<std::uint32_t, int> counts;
  for (int i = 0; i < 70000; ++i) ++counts[random.below(7)];
  ASSERT_EQ(counts.size(), 7u);
  EXPECT_EQ(counts.rbegin()->first, 6u);
  for (const auto& [value, count] : counts) EXPECT_NEAR(count, 10000, 500) << value;
  EXPECT_EQ(random.below(1), 0u);
  EXPECT_THROW(random.below(0), InvariantError);
}

TEST(Philox, PermutationsArePermutations) {
  for (std::uint32_t n : {0u, 1u, 2u, 1000u}) {
    auto order = Philox(5, 0, 1, Purpose::data_order).permutation(n);
    std::sort(order.begin(), order.end());
    ASSERT_EQ(order.size(), n);
    for (std::uint32_t i = 0; i < n; ++i) ASSERT_EQ(order[i], i);
  }
}

TEST(Philox, AllPermutationsAreEquallyLikely) {
  std::map<std::vector<std::uint32_t>, int> counts;
  for (long epoch = 0; epoch < 24000; ++epoch) {
    ++counts[Philox(5, 0, epoch, Purpose::data_order).permutation(4)];
  }
  ASSERT_EQ(counts.size(), 24u);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1000, 160);
}

}  // namespace
}  // namespace trigram::test::philox_test
