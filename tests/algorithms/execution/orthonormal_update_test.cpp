// The update of Dion for buckets of matrices and vectors, against plain loops, in every world.

#include <gtest/gtest.h>

#include "algorithms/execution/orthonormal_update.h"
#include "core/device/host_device.h"
#include "tests/oracles/dion_reference.h"
#include "tests/support/codec_testing.h"
#include "tests/support/worlds.h"

namespace trigram::test::orthonormal_update_test {
namespace {

constexpr std::size_t kRows = 6, kCols = 9, kMatrix = kRows * kCols, kVector = 5;
constexpr std::size_t kNumel = kMatrix + kVector;
constexpr long kSteps = 4;
constexpr std::uint64_t kSeed = 5;
constexpr int kBucket = 0;

Values gradient(int rank, long step) {
  return normals(kNumel, 1, 0.2f * static_cast<float>(rank) + static_cast<float>(step));
}

/// A bucket with a matrix and a vector. Reference: mean factors of two columns, a third of six.
TEST(OrthonormalUpdates, FollowTheEquationsOnMatricesAndVectors) {
  constexpr int kRanks = 3;
  const OrthonormalUpdate options{.rank_fraction = 1.0 / 3, .momentum = 0.8, .beta1 = 0.7};
  DionReference matrix(
      {.rows = kRows, .cols = kCols, .numel = kMatrix, .rank = 2, .momentum = 0.8, .seed = kSeed},
      kBucket);
  AdamReference vector(0.7, 0.95, 1e-8);
  std::vector<double> expected;
  for (long step = 0; step < kSteps; ++step) {
    std::vector<std::vector<double>> matrices;
    std::vector<double> mean(kVector);
    for (int rank = 0; rank < kRanks; ++rank) {
      Values g = gradient(rank, step);
      for (float& v : g) v *= static_cast<float>(rank + 1);
      matrices.emplace_back(g.begin(), g.begin() + kMatrix);
      for (std::size_t i = 0; i < kVector; ++i) mean[i] += double{g[kMatrix + i]} / kRanks;
    }
    for (const double u : matrix.update(matrices)) expected.push_back(u);
    for (const double u : vector.update(mean)) expected.push_back(u);
  }
  for (const std::string& world : world_names()) {
    if (!world_unavailable(world, kRanks).empty()) continue;
    const auto results = vectors_in_world(world, flat_cluster(kRanks), [&](Context ctx) {
      Bucket bucket{
          .index = kBucket, .weight = ctx.device->empty(kNumel), .grad = ctx.device->empty(kNumel)};
      bucket.tensors = {{0, kMatrix, kRows}, {kMatrix, kVector, 1}};
      const Exchange update = orthonormal_update(options, {&bucket, 1}, kSeed);
      Values updates;
      for (long step = 0; step < kSteps; ++step) {
        Values g = gradient(ctx.world_rank, step);
        for (float& v : g) v *= static_cast<float>(ctx.world_rank + 1);
        ctx.device->upload(bucket.grad, g);
        update(ctx, bucket.grad, {kBucket, step});
        for (const float u : ctx.device->download(bucket.grad)) updates.push_back(u);
      }
      return updates;
    });
    for (const Values& updates : results) {
      ASSERT_EQ(updates.size(), expected.size()) << world;
      for (std::size_t i = 0; i < updates.size(); ++i)
        ASSERT_NEAR(updates[i], expected[i], 2e-5) << world << " " << i;
      EXPECT_TRUE(same_bits(updates, results[0])) << world;
    }
  }
}

/// The update of a matrix, and its momentum, with all columns: orthonormal rows or columns, times
/// the scale.
TEST(OrthonormalUpdates, OfFullRankAreOrthonormal) {
  const auto results = vectors_in_world("threads", flat_cluster(1), [](Context ctx) {
    Bucket bucket{.weight = ctx.device->empty(kMatrix), .grad = ctx.device->empty(kMatrix)};
    bucket.tensors = {{0, kMatrix, kRows}};
    const Exchange update = orthonormal_update({.rank_fraction = 1}, {&bucket, 1}, kSeed);
    for (long step = 0; step < 30; ++step) {  // power iterations towards the singular vectors
      ctx.device->upload(bucket.grad, step == 0 ? normals(kMatrix) : Values(kMatrix, 0.f));
      update(ctx, bucket.grad, {0, step});
    }
    return ctx.device->download(bucket.grad);
  });
  for (std::size_t a = 0; a < kRows; ++a)
    for (std::size_t b = 0; b <= a; ++b) {
      double dot = 0;
      for (std::size_t i = 0; i < kCols; ++i)
        dot += double{results[0][a * kCols + i]} * double{results[0][b * kCols + i]};
      EXPECT_NEAR(dot, a == b ? double{kRows} / double{kCols} : 0, 0.05) << a << " " << b;
    }
}

/// A first gradient of a single direction leaves the other columns of the factors at 0. When later
/// gradients have more directions, all columns are used: then every one adds the squared scale to
/// the squared norm of the update.
TEST(OrthonormalUpdates, UseAllColumnsAfterAGradientOfOneDirection) {
  const auto results = vectors_in_world("threads", flat_cluster(1), [](Context ctx) {
    Bucket bucket{.weight = ctx.device->empty(kMatrix), .grad = ctx.device->empty(kMatrix)};
    bucket.tensors = {{0, kMatrix, kRows}};
    const Exchange update = orthonormal_update({.rank_fraction = 1}, {&bucket, 1}, kSeed);
    Values squares;
    for (int step = 0; step < 3; ++step) {
      ctx.device->upload(bucket.grad, step == 0 ? Values(kMatrix, 1.f) : normals(kMatrix, step));
      update(ctx, bucket.grad, {0, step});
      squares.push_back(static_cast<float>(norm2_squared(ctx.device->download(bucket.grad))));
    }
    return squares;
  });
  constexpr double kSquaredScale = double{kRows} / double{kCols};
  EXPECT_NEAR(results[0][0], kSquaredScale, 1e-3);
  EXPECT_NEAR(results[0][2], kSquaredScale * kRows, 1e-3);
}

}  // namespace
}  // namespace trigram::test::orthonormal_update_test
