#include "core/device/memory_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <new>
#include <stdexcept>

namespace trigram {
namespace {

constexpr std::align_val_t kAlign{MemoryPool::kAlignment};

// Rounds up to one of four sizes per octave: this wastes little, and tensors of similar size can
// share blocks.
std::size_t block_size(std::size_t nbytes) {
  nbytes = std::max(nbytes, MemoryPool::kAlignment);
  const std::size_t step = std::max(std::bit_floor(nbytes) / 4, MemoryPool::kAlignment);
  return (nbytes + step - 1) / step * step;
}

// Uses the nothrow form of new, because an allocator that replaces the throwing form may end the
// process.
std::byte* new_block(std::size_t size) {
  void* const block = operator new(size, kAlign, std::nothrow);
  if (!block) throw std::runtime_error(fmt::format("there is no memory for {} bytes", size));
  return static_cast<std::byte*>(block);
}

}  // namespace

MemoryPool::~MemoryPool() {
  for (const auto& [size, blocks] : free_) {
    for (std::byte* block : blocks) operator delete(block, kAlign);
  }
}

std::shared_ptr<std::byte> MemoryPool::allocate(std::size_t nbytes) {
  const std::size_t size = block_size(nbytes);
  std::byte* block = nullptr;
  {
    const std::lock_guard lock(mutex_);
    auto& blocks = free_[size];
    if (!blocks.empty()) {
      block = blocks.back();
      blocks.pop_back();
    }
  }
  if (!block) block = new_block(size);
  return {block, [pool = shared_from_this(), size](std::byte* b) { pool->release(b, size); }};
}

void MemoryPool::release(std::byte* block, std::size_t size) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    free_[size].push_back(block);
  } catch (const std::bad_alloc&) {
    operator delete(block, kAlign);
  }
}

}  // namespace trigram
