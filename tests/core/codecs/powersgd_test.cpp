#include <gmock/gmock.h>

#include <cmath>

#include "tests/support/codec_testing.h"

namespace trigram::test::powersgd_test {
namespace {

using ::testing::StartsWith;

CodecSpec powersgd(int rank) { return {"powersgd", {{"rank", rank}}}; }

/// The factors P and Q on a wire, read by plain loops according to the wire format.
struct Factors {
  std::size_t rows, cols, rank;
  Values p, q;
  double p_at(std::size_t i, std::size_t j) const { return p[j * rows + i]; }
  double q_at(std::size_t i, std::size_t j) const { return q[j * cols + i]; }
};

Factors factors_on(const Bytes& wire, std::size_t rows, std::size_t cols, std::size_t rank) {
  Factors f{rows, cols, rank, Values(rank * rows), Values(rank * cols)};
  EXPECT_EQ(wire.size(), 4 * (f.p.size() + f.q.size()));
  std::memcpy(f.p.data(), wire.data(), 4 * f.p.size());
  std::memcpy(f.q.data(), wire.data() + 4 * f.p.size(), 4 * f.q.size());
  return f;
}

TEST(PowerSgd, ProjectsOnAnOrthonormalBasis) {
  const std::size_t n = 1190, rows = 34, cols = 35;
  Values x = normals(n - 5);
  for (const std::size_t rank : {1, 2, 4}) {
    const Coded coded = code(powersgd(static_cast<int>(rank)), x);
    const Factors f = factors_on(coded.wire, rows, cols, rank);
    const auto m = [&](std::size_t i, std::size_t j) {
      return i * cols + j < x.size() ? double{x[i * cols + j]} : 0;
    };
    for (std::size_t a = 0; a < rank; ++a) {
      for (std::size_t b = 0; b < rank; ++b) {
        double dot = 0;
        for (std::size_t i = 0; i < rows; ++i) dot += f.p_at(i, a) * f.p_at(i, b);
        EXPECT_NEAR(dot, a == b, 1e-6);
      }
      for (std::size_t j = 0; j < cols; ++j) {
        double dot = 0;
        for (std::size_t i = 0; i < rows; ++i) dot += m(i, j) * f.p_at(i, a);
        EXPECT_NEAR(f.q_at(j, a), dot, 1e-5);
      }
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      double value = 0;
      for (std::size_t a = 0; a < rank; ++a) value += f.p_at(i / cols, a) * f.q_at(i % cols, a);
      EXPECT_NEAR(coded.decoded[i], value, 1e-5);
    }
  }
}

TEST(PowerSgd, AMatrixOfAtMostItsRankIsExact) {
  const std::size_t side = 50;
  Values x(side * side);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto row = static_cast<float>(i / side), col = static_cast<float>(i % side);
    x[i] = std::sin(row) * (col + 1) + 3 * std::cos(row) * (col - 20);
  }
  EXPECT_GT(distance_squared(x, code(powersgd(1), x).decoded), 1e-4 * norm2_squared(x));
  EXPECT_LT(distance_squared(x, code(powersgd(2), x).decoded), 1e-11 * norm2_squared(x));
  // Columns that depend linearly on each other do no harm.
  EXPECT_LT(distance_squared(x, code(powersgd(5), x).decoded), 1e-9 * norm2_squared(x));
}

TEST(PowerSgd, TheErrorFallsWithTheRank) {
  const Values x = normals(40000);
  double before = norm2_squared(x);
  for (const int rank : {1, 4, 16, 64}) {
    const double left = distance_squared(x, code(powersgd(rank), x).decoded);
    EXPECT_LT(left, before) << rank;
    before = left;
  }
}

TEST(PowerSgd, SmallVectorsAreSentUncoded) {
  for (const std::size_t n : {1, 3, 8, 15, 16}) {
    const Values x = normals(n);
    EXPECT_TRUE(same_bits(code(powersgd(2), x).decoded, x)) << n;
  }
  // 5 x 5 is the smallest matrix that has more elements than its factors: 2 (5 + 5).
  const Values x = normals(25);
  EXPECT_FALSE(same_bits(code(powersgd(2), x).decoded, x));
}

TEST(PowerSgd, TinyAndHugeValues) {
  for (const float scale : {1e-30f, 1e15f}) {
    Values x(2500);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = scale * static_cast<float>(i / 50 + 1) * static_cast<float>(i % 50 + 1);
    }
    EXPECT_LT(distance_squared(x, code(powersgd(1), x).decoded), 1e-11 * norm2_squared(x)) << scale;
  }
  for (const float v : code(powersgd(1), Values(2500, 3e38f)).decoded) EXPECT_TRUE(std::isnan(v));
}

TEST(PowerSgd, RefusesRanksOutOfRange) {
  for (const int rank : {0, -1, 1025}) {
    EXPECT_THAT(codec_error({{"name", "powersgd"}, {"rank", rank}}), StartsWith("/codec/rank: "));
  }
}

}  // namespace
}  // namespace trigram::test::powersgd_test
