#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/accelerator_backend.h"
#include "cuda/support/event.h"

namespace trigram {

/// Thrown if the tensors of a rank do not fit into its GPU memory.
class CudaMemoryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How an arena provides blocks.
enum class CudaBlocks {
  carved,     // parts of one allocation
  allocated,  // separate allocations of exact size, so that compute-sanitizer detects overruns and
              // use after free; here allocating and dropping wait for the GPU
};

/// All memory that one rank uses on its GPU. It is allocated from CUDA once, at start-up, because
/// allocations wait for kernels that may themselves wait for other ranks. Thread-safe. The arena
/// lives until the last block is returned.
///
/// **When a block is reused.** A tensor may be used on any stream of the rank. Its last handle may
/// be dropped on the host while work that uses the tensor is still queued, and there is no record
/// of the streams on which it is queued. But no work that is queued after the drop can use the
/// block. So a dropped block can be reused when every stream has completed the work that was queued
/// on it at the drop. This is checked with a *fence*: one event on each stream, recorded at the
/// next allocation for all blocks that were dropped since the last fence. The allocating stream
/// needs no event: its use of the block comes after everything that it has queued before. If it
/// hands the new tensor to another stream, that stream is ordered after it, by `Stream::submit` or
/// `wait`.
class CudaArena : public std::enable_shared_from_this<CudaArena> {
 public:
  /// `advice` tells the user how to avoid the error for exhausted memory, to which it is appended.
  static std::shared_ptr<CudaArena> create(std::size_t nbytes, std::string advice,
                                           CudaBlocks blocks = CudaBlocks::carved);
  ~CudaArena();
  CudaArena(const CudaArena&) = delete;
  CudaArena& operator=(const CudaArena&) = delete;

  /// Registers `stream`: from now on, work that uses blocks may be queued on it.
  void add_stream(cudaStream_t stream);
  /// Removes `stream`, on which no more work that uses blocks will be queued. Work that is already
  /// queued need not be complete.
  void remove_stream(cudaStream_t stream);

  /// Returns at least `nbytes` uninitialised bytes; never null. Work on `stream` must be the first
  /// to use them. If all memory is in use, waits until queued work has finished with enough
  /// dropped blocks. Throws CudaMemoryError if no dropped block is left to wait for.
  std::shared_ptr<std::byte> allocate(std::size_t nbytes, cudaStream_t stream, Waiter& waiter);

  /// In bytes; suits 16-byte vector loads and cache lines.
  static constexpr std::size_t kAlignment = 256;

 private:
  struct Fence {
    /// The events that have not fired yet, and their streams.
    std::vector<std::pair<cudaStream_t, std::shared_ptr<cuda::Event>>> events;
    /// True if work on `stream` may use the blocks that were dropped before the fence. If `stream`
    /// is null: true if work on every stream may.
    bool open_for(cudaStream_t stream);
  };
  struct Dropped {
    std::byte* block;
    std::shared_ptr<Fence> fence;
  };

  CudaArena(std::size_t nbytes, std::string advice, CudaBlocks blocks);
  std::shared_ptr<std::byte> allocate_separately(std::size_t nbytes);
  std::byte* find_block(std::size_t size, cudaStream_t stream);
  std::byte* reuse(std::size_t size, cudaStream_t stream);
  std::byte* carve(std::size_t size);
  void add_fence();
  void merge_dropped();
  void merge(std::byte* block, std::size_t size);
  void drop(std::byte* block, std::size_t size) noexcept;
  std::string exhausted_text(std::size_t size) const;
  std::shared_ptr<cuda::Event> record_event(cudaStream_t stream);

  const std::size_t nbytes_;
  const std::string advice_;
  const CudaBlocks blocks_;
  std::byte* memory_ = nullptr;

  mutable std::mutex mutex_;  // guards everything below
  std::vector<std::unique_ptr<cuda::Event>> idle_events_;
  std::vector<cudaStream_t> streams_;
  std::vector<std::shared_ptr<cuda::Event>> departed_;  // last events of removed streams
  std::map<std::byte*, std::size_t> clean_;  // free ranges, by address; no queued work uses them
  std::vector<std::pair<std::byte*, std::size_t>> just_dropped_;  // blocks without a fence
  std::map<std::size_t, std::deque<Dropped>> dropped_;            // by size, oldest first
  std::size_t used_ = 0;
};

}  // namespace trigram
