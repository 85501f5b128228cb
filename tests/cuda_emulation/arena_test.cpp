// When the arena reuses a block; the test controls the progress of the streams.

#include <gtest/gtest.h>

#include "cuda/device/arena.h"
#include "tests/cuda/gpu_fixture.h"
#include "tests/cuda_emulation/queue.h"

namespace trigram::arena_test {
namespace {

class FencedArena : public testing::Test {
 protected:
  FencedArena() {
    arena->add_stream(stream);
    arena->add_stream(other);
  }
  ~FencedArena() override {
    gate = true;
    arena->remove_stream(stream);
    arena->remove_stream(other);
  }
  /// Work queued on `s` from now on does not run before the gate opens.
  void block_stream(cudaStream_t s) {
    cuda_emulation::enqueue(s, [this] { return gate; });
  }
  std::byte* address_for(cudaStream_t s) { return arena->allocate(1 << 20, s, waiter).get(); }

  PatientWaiter waiter;
  OwnStream stream, other;
  std::shared_ptr<CudaArena> arena = CudaArena::create(16 << 20, "");
  bool gate = false;
};

TEST_F(FencedArena, WorkOnAnotherStreamPreventsReuse) {
  auto block = arena->allocate(1 << 20, stream, waiter);
  std::byte* const address = block.get();
  block_stream(other);
  block.reset();  // `other` may still use it
  for (int i = 0; i < 10; ++i) EXPECT_NE(address, address_for(stream));
  gate = true;
  cudaStreamSynchronize(other);
  std::vector<std::shared_ptr<std::byte>> taken;  // all available blocks
  for (int i = 0; i < 16; ++i) taken.push_back(arena->allocate(1 << 20, stream, waiter));
  EXPECT_EQ(1, std::ranges::count(taken, address, &std::shared_ptr<std::byte>::get));
}

TEST_F(FencedArena, WorkOnTheAllocatingStreamDoesNotPreventReuse) {
  auto block = arena->allocate(1 << 20, stream, waiter);
  std::byte* const address = block.get();
  block_stream(stream);
  block.reset();
  EXPECT_NE(address, address_for(other)) << "the first stream has unfinished work";
  // `other` has no work; querying its event completes it.
  bool reused = false;
  for (int i = 0; i < 10; ++i) reused |= address == address_for(stream);
  EXPECT_TRUE(reused);
}

TEST_F(FencedArena, WorkOnARemovedStreamPreventsReuse) {
  auto block = arena->allocate(1 << 20, stream, waiter);
  std::byte* const address = block.get();
  block_stream(other);
  arena->remove_stream(other);
  block.reset();
  for (int i = 0; i < 10; ++i) EXPECT_NE(address, address_for(stream));
  gate = true;
  arena->add_stream(other);
  const auto all = arena->allocate(16 << 20, stream, waiter);
  EXPECT_NE(nullptr, all);
}

TEST_F(FencedArena, AllocationWaitsForDroppedBlocks) {
  auto block = arena->allocate(12 << 20, stream, waiter);
  block_stream(other);
  block.reset();
  class GateOpener final : public Waiter {
   public:
    explicit GateOpener(bool& opened) : gate(opened) {}
    void await(const Wait&, const std::function<bool()>& ready) override {
      EXPECT_FALSE(ready());
      gate = true;
      PatientWaiter().await({}, ready);
    }
    bool& gate;
  } gate_opener(gate);
  EXPECT_NE(nullptr, arena->allocate(16 << 20, stream, gate_opener));
  EXPECT_TRUE(gate);
}

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  return free;
}

TEST(ArenaOfAllocations, EveryBlockIsAnAllocationUntilItIsDropped) {
  PatientWaiter waiter;
  OwnStream stream;
  const std::size_t before = free_bytes();
  const auto arena = CudaArena::create(16 << 20, "", CudaBlocks::allocated);
  EXPECT_EQ(before, free_bytes());
  auto large = arena->allocate(1 << 20, stream, waiter);
  auto empty = arena->allocate(0, stream, waiter);
  EXPECT_NE(nullptr, empty);
  EXPECT_GE(before - free_bytes(), 1u << 20);
  EXPECT_LT(before - free_bytes(), 2u << 20);
  EXPECT_THROW(arena->allocate(16 << 20, stream, waiter), CudaMemoryError);

  bool done = false;
  cuda_emulation::enqueue(stream, [&done] { return done = true; });
  large.reset();
  EXPECT_TRUE(done) << "queued work could have used the block";
  empty.reset();
  EXPECT_EQ(before, free_bytes());
  EXPECT_NE(nullptr, arena->allocate(16 << 20, stream, waiter));
}

}  // namespace
}  // namespace trigram::arena_test
