// The codec chunk_topk, against a sort of each chunk.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/support/codec_testing.h"
#include "tests/support/vector_targets.h"

namespace trigram::test::chunk_topk_test {
namespace {

/// The decoded chunk: the `kept` largest magnitudes, of equal ones the first, at the middle of the
/// nearer half of their range.
std::vector<double> expected(const Values& chunk, std::size_t kept) {
  std::vector<std::size_t> order(chunk.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(chunk[a]) > std::abs(chunk[b]);
  });
  const double most = std::abs(chunk[order[0]]), least = std::abs(chunk[order[kept - 1]]);
  std::vector<double> x(chunk.size(), 0);
  for (std::size_t rank = 0; rank < kept; ++rank) {
    const double v = chunk[order[rank]];
    const double share = std::abs(v) >= least + (most - least) / 2 ? 0.75 : 0.25;
    x[order[rank]] = std::copysign(least + share * (most - least), v);
  }
  return x;
}

TEST(ChunkTopK, KeepsTheLargestOfEveryChunk) {
  Values x = normals(2 * 4096 + 1000, 1.f);
  for (std::size_t i = 0; i < x.size(); i += 3) x[i] = i % 2 == 0 ? 1.5f : -1.5f;  // ties
  for (const auto& [keep, in_last] : {std::pair{64, 16}, std::pair{1500, 367}}) {
    const Values decoded = code({"chunk_topk", {{"keep", keep}}}, x).decoded;
    for (std::size_t begin = 0; begin < x.size(); begin += 4096) {
      const std::size_t end = std::min(begin + 4096, x.size());
      const Values chunk(x.begin() + static_cast<std::ptrdiff_t>(begin),
                         x.begin() + static_cast<std::ptrdiff_t>(end));
      const auto values =
          expected(chunk, static_cast<std::size_t>(end - begin == 4096 ? keep : in_last));
      for (std::size_t i = begin; i < end; ++i)
        ASSERT_NEAR(decoded[i], values[i - begin], 1e-6) << keep << " " << i;
    }
  }
}

/// 64 codes of 14 bits and two f32 for 4096 elements.
TEST(ChunkTopK, TheWireHas120BytesForAChunk) {
  EXPECT_EQ(code({"chunk_topk"}, normals(4096)).wire.size(), 64u * 14 / 8 + 8);
  Values x(4096, 0.f);
  x[5] = 4;
  x[4095] = -3;
  const Bytes wire = code({"chunk_topk", {{"keep", 2}}}, x).wire;
  // Levels 3.25 and 3.75; codes 5 | 1 << 12 and 4095 | 1 << 13, 14 bits apart.
  const std::uint64_t codes = (5u | 1u << 12) | std::uint64_t{4095u | 1u << 13} << 14;
  Bytes packed = {0, 0, 0x50, 0x40, 0, 0, 0x70, 0x40};
  for (int i = 0; i < 7; ++i) packed.push_back(static_cast<std::uint8_t>(codes >> 8 * i));
  EXPECT_EQ(wire, packed);
}

}  // namespace
}  // namespace trigram::test::chunk_topk_test
