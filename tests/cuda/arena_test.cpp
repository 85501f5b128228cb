// Allocation of GPU memory: sizes, reuse and errors.

#include "cuda/device/arena.h"

#include <gmock/gmock.h>

#include "tests/cuda/gpu_fixture.h"

namespace trigram::arena_test {
namespace {

constexpr std::size_t kMiB = 1 << 20;

class Arena : public testing::Test {
 protected:
  Arena() {
    arena->add_stream(stream);
    arena->add_stream(other);
  }
  ~Arena() override {
    arena->remove_stream(stream);
    arena->remove_stream(other);
  }
  std::shared_ptr<std::byte> allocate(std::size_t nbytes) {
    return arena->allocate(nbytes, stream, waiter);
  }

  PatientWaiter waiter;
  OwnStream stream, other;
  std::shared_ptr<CudaArena> arena = CudaArena::create(16 * kMiB, "set memory", blocks_of_tests());
};

TEST_F(Arena, BlocksAreAlignedAndDoNotOverlap) {
  std::vector<std::shared_ptr<std::byte>> blocks;
  for (const std::size_t n : {0, 1, 255, 256, 257, 100'000}) {
    blocks.push_back(allocate(n));
    EXPECT_EQ(0u, reinterpret_cast<std::uintptr_t>(blocks.back().get()) % CudaArena::kAlignment);
    for (std::size_t i = 0; i + 1 < blocks.size(); ++i) {
      const std::ptrdiff_t distance = blocks.back().get() - blocks[i].get();
      EXPECT_GE(std::abs(distance), 256);
    }
  }
}

TEST_F(Arena, AStreamReusesItsBlocks) {
  if (blocks_of_tests() == CudaBlocks::allocated) GTEST_SKIP() << "CUDA chooses the addresses";
  // `other` is idle. Once its event has been queried, a block can be reused immediately.
  auto block = allocate(kMiB);
  std::vector<std::byte*> seen;
  for (int i = 0; i < 100; ++i) {
    seen.push_back(block.get());
    block.reset();
    waiter.await({}, [this] { return cudaStreamQuery(other) == cudaSuccess; });
    block = allocate(kMiB);
  }
  std::ranges::sort(seen);
  const auto duplicates = std::ranges::unique(seen);
  EXPECT_LE(std::distance(seen.begin(), duplicates.begin()), 4);
}

TEST_F(Arena, DroppedBlocksServeOtherSizes) {
  for (int repetition = 0; repetition < 3; ++repetition) {
    std::vector<std::shared_ptr<std::byte>> small;
    for (int i = 0; i < 16; ++i) small.push_back(allocate(kMiB));
    EXPECT_THROW(allocate(kMiB), CudaMemoryError);
    small.clear();
    const auto large = allocate(14 * kMiB);
    EXPECT_NE(nullptr, large);
  }
}

TEST_F(Arena, TheErrorContainsTheAdvice) {
  const auto most = allocate(12 * kMiB);
  try {
    allocate(8 * kMiB);
    FAIL() << "it does not fit";
  } catch (const CudaMemoryError& error) {
    EXPECT_STREQ(
        "a tensor of 8388608 bytes does not fit into the 16777216 bytes for tensors on the GPU, of "
        "which 12582912 are in use; set memory",
        error.what());
  }
  EXPECT_THROW(CudaArena::create(std::size_t{1} << 50, ""), CudaMemoryError);
}

TEST_F(Arena, BlocksOutliveTheirStreamsAndTheOwnerOfTheArena) {
  auto block = allocate(kMiB);
  auto owner = std::move(arena);
  owner->remove_stream(stream);
  owner->add_stream(stream);
  arena = owner;
  owner.reset();
  block.reset();
  EXPECT_NE(nullptr, allocate(16 * kMiB));
}

}  // namespace
}  // namespace trigram::arena_test
