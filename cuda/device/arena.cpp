#include "cuda/device/arena.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "core/wait_text.h"

namespace trigram {
namespace {

// Rounds up to one of four sizes per octave: this wastes little memory, and tensors of similar size
// can reuse each other's blocks.
std::size_t block_size(std::size_t nbytes) {
  nbytes = std::max(nbytes, CudaArena::kAlignment);
  const std::size_t step = std::max(std::bit_floor(nbytes) / 4, CudaArena::kAlignment);
  return (nbytes + step - 1) / step * step;
}

std::byte* malloc_on_gpu(std::size_t nbytes) {
  std::byte* memory = nullptr;
  const cudaError_t code = cudaMalloc(&memory, nbytes);
  if (code == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());  // clears the error, which is handled below
    std::size_t free = 0, total = 0;
    cuda::check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    throw CudaMemoryError(
        fmt::format("the GPU does not have {} bytes for tensors: {} of its {} bytes are free",
                    nbytes, free, total));
  }
  cuda::check(code, "cudaMalloc");
  return memory;
}

}  // namespace

bool CudaArena::Fence::open_for(cudaStream_t stream) {
  std::erase_if(events, [](const auto& event) { return event.second->reached(); });
  return std::ranges::all_of(
      events, [stream](const auto& event) { return stream != nullptr && event.first == stream; });
}

std::shared_ptr<CudaArena> CudaArena::create(std::size_t nbytes, std::string advice,
                                             CudaBlocks blocks) {
  return std::shared_ptr<CudaArena>(new CudaArena(nbytes, std::move(advice), blocks));
}

CudaArena::CudaArena(std::size_t nbytes, std::string advice, CudaBlocks blocks)
    : nbytes_(nbytes / kAlignment * kAlignment), advice_(std::move(advice)), blocks_(blocks) {
  memory_ = malloc_on_gpu(nbytes_);
  if (blocks_ == CudaBlocks::allocated) {  // the allocation only tested that there is enough memory
    cuda::check(cudaFree(std::exchange(memory_, nullptr)), "cudaFree");
  } else {
    clean_[memory_] = nbytes_;
  }
}

CudaArena::~CudaArena() {
  // All tensors are destroyed by now. If the GPU has failed, other calls have reported that.
  cudaFree(memory_);
}

void CudaArena::add_stream(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  streams_.push_back(stream);
}

void CudaArena::remove_stream(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  std::erase(streams_, stream);
  departed_.push_back(record_event(stream));
}

// An event after everything that is queued on `stream` now.
std::shared_ptr<cuda::Event> CudaArena::record_event(cudaStream_t stream) {
  std::unique_ptr<cuda::Event> event;
  if (idle_events_.empty()) {
    event = std::make_unique<cuda::Event>();
  } else {
    event = std::move(idle_events_.back());
    idle_events_.pop_back();
  }
  event->record(stream);
  // The deleter needs no lock: fences belong to the arena, and are destroyed while its mutex is
  // held.
  return {event.release(), [this](cuda::Event* e) { idle_events_.emplace_back(e); }};
}

std::shared_ptr<std::byte> CudaArena::allocate(std::size_t nbytes, cudaStream_t stream,
                                               Waiter& waiter) {
  if (blocks_ == CudaBlocks::allocated) return allocate_separately(nbytes);
  const std::size_t size = block_size(nbytes);
  std::byte* block = nullptr;
  bool can_succeed = true;  // now or later
  const auto try_again = [&] {
    const std::lock_guard lock(mutex_);
    block = find_block(size, stream);
    can_succeed = !dropped_.empty();
    if (block) used_ += size;
    return block || !can_succeed;
  };
  if (!try_again()) waiter.await({.kind = Wait::accelerator}, try_again);
  if (!block) throw CudaMemoryError(exhausted_text(size));
  return {block, [arena = shared_from_this(), size](std::byte* b) { arena->drop(b, size); }};
}

std::shared_ptr<std::byte> CudaArena::allocate_separately(std::size_t nbytes) {
  const std::size_t size = block_size(nbytes);
  bool fits = false;
  {
    const std::lock_guard lock(mutex_);
    fits = used_ + size <= nbytes_;
    if (fits) used_ += size;
  }
  if (!fits) throw CudaMemoryError(exhausted_text(size));
  const auto give_back = [arena = shared_from_this(), size](std::byte* block) {
    cudaDeviceSynchronize();  // work on any stream may still use the block
    cudaFree(block);
    const std::lock_guard lock(arena->mutex_);
    arena->used_ -= size;
  };
  return {malloc_on_gpu(std::max<std::size_t>(nbytes, 1)), give_back};
}

std::byte* CudaArena::find_block(std::size_t size, cudaStream_t stream) {
  add_fence();
  if (std::byte* const block = reuse(size, stream)) return block;
  if (std::byte* const block = carve(size)) return block;
  merge_dropped();
  return carve(size);
}

void CudaArena::add_fence() {
  if (just_dropped_.empty()) return;
  const auto fence = std::make_shared<Fence>();
  for (cudaStream_t stream : streams_) fence->events.emplace_back(stream, record_event(stream));
  std::erase_if(departed_, [](const auto& event) { return event->reached(); });
  for (const auto& event : departed_) fence->events.emplace_back(nullptr, event);
  for (const auto& [block, size] : just_dropped_) dropped_[size].push_back({block, fence});
  just_dropped_.clear();
}

// Takes a dropped block of exactly this size. Streams pass older fences first, so only the oldest
// block is checked.
std::byte* CudaArena::reuse(std::size_t size, cudaStream_t stream) {
  const auto found = dropped_.find(size);
  if (found == dropped_.end()) return nullptr;
  auto& blocks = found->second;
  if (!blocks.front().fence->open_for(stream)) return nullptr;
  std::byte* const block = blocks.front().block;
  blocks.pop_front();
  if (blocks.empty()) dropped_.erase(found);
  return block;
}

// Takes the front of the first free range that is long enough.
std::byte* CudaArena::carve(std::size_t size) {
  const auto found =
      std::ranges::find_if(clean_, [size](const auto& range) { return range.second >= size; });
  if (found == clean_.end()) return nullptr;
  const auto [block, length] = *found;
  clean_.erase(found);
  if (length > size) clean_[block + size] = length - size;
  return block;
}

// Merges dropped blocks that no queued work uses any more into larger free ranges.
void CudaArena::merge_dropped() {
  for (auto& [size, blocks] : dropped_) {
    while (!blocks.empty() && blocks.front().fence->open_for(nullptr)) {
      merge(blocks.front().block, size);
      blocks.pop_front();
    }
  }
  std::erase_if(dropped_, [](const auto& blocks) { return blocks.second.empty(); });
}

void CudaArena::merge(std::byte* block, std::size_t size) {
  auto next = clean_.lower_bound(block);
  if (next != clean_.end() && block + size == next->first) {
    size += next->second;
    next = clean_.erase(next);
  }
  if (next != clean_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == block) {
      before->second += size;
      return;
    }
  }
  clean_[block] = size;
}

void CudaArena::drop(std::byte* block, std::size_t size) noexcept {
  const std::lock_guard lock(mutex_);
  used_ -= size;
  try {
    just_dropped_.emplace_back(block, size);
  } catch (const std::bad_alloc&) {
    // The host has no memory left to record the block, so the block is lost.
  }
}

std::string CudaArena::exhausted_text(std::size_t size) const {
  const std::lock_guard lock(mutex_);
  return fmt::format(
      "a tensor of {} bytes does not fit into the {} bytes for tensors on the GPU, of which {} are "
      "in use; {}",
      size, nbytes_, used_, advice_);
}

}  // namespace trigram
