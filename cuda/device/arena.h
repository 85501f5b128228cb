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

/// The memory that a rank has on its GPU does not hold all its tensors.
class CudaMemoryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where the blocks of an arena are.
enum class CudaBlocks {
  carved,     // within one allocation
  allocated,  // each in one of its own, as long as asked for, so that compute-sanitizer knows where
              // it ends and when it is gone; allocating and dropping wait for the GPU
};

/// All memory that one rank has on its GPU: taken from CUDA once, at start-up, because allocations
/// wait for kernels that themselves may wait for other ranks. Safe from any thread; it lives until
/// the last block is given back.
///
/// **When a block is used again.** A tensor may be used on any stream of the rank, and its last
/// handle is dropped on the host while the work that touches it is still queued, on streams that
/// nobody has kept account of. But nothing that is queued after the drop can touch it. So a dropped
/// block is used again when every stream has got to where its queue ended at the drop, or at a
/// later moment: an event on each of them, the *fence*. It is recorded when memory is next asked
/// for, over all blocks dropped until then. The stream that asks is exempt: what it does with the
/// block comes behind what it has queued before, and who hands a new tensor to another stream
/// orders that stream behind its own, as `Stream::submit` and `wait` do.
class CudaArena : public std::enable_shared_from_this<CudaArena> {
 public:
  /// `enlarge` ends the error for memory that is exhausted: what the user can do.
  static std::shared_ptr<CudaArena> create(std::size_t nbytes, std::string enlarge,
                                           CudaBlocks blocks = CudaBlocks::carved);
  ~CudaArena();
  CudaArena(const CudaArena&) = delete;
  CudaArena& operator=(const CudaArena&) = delete;

  /// Work that touches blocks is queued on `stream` from now on.
  void add_stream(cudaStream_t stream);
  /// No work that touches blocks is queued on `stream` any more; what is queued need not be done.
  void remove_stream(cudaStream_t stream);

  /// At least `nbytes` uninitialised bytes for work that is queued on `stream` first; never null.
  /// When all memory is taken, waits until the GPU has done with enough of what was dropped. Throws
  /// CudaMemoryError when that would not help.
  std::shared_ptr<std::byte> allocate(std::size_t nbytes, cudaStream_t stream, Waiter& waiter);

  /// For vectors that are loaded 16 bytes at a time, and lines of the cache.
  static constexpr std::size_t kAlignment = 256;

 private:
  struct Fence {
    std::vector<std::pair<cudaStream_t, std::shared_ptr<cuda::Event>>> events;  // not yet reached
    /// Whether `stream` may use what was dropped before; null: whether anyone may.
    bool open_for(cudaStream_t stream);
  };
  struct Dropped {
    std::byte* block;
    std::shared_ptr<Fence> fence;
  };

  CudaArena(std::size_t nbytes, std::string enlarge, CudaBlocks blocks);
  std::shared_ptr<std::byte> allocate_alone(std::size_t nbytes);
  std::byte* find(std::size_t size, cudaStream_t stream);
  std::byte* reuse(std::size_t size, cudaStream_t stream);
  std::byte* carve(std::size_t size);
  void fence_dropped();
  void merge_dropped();
  void merge(std::byte* block, std::size_t size);
  void drop(std::byte* block, std::size_t size) noexcept;
  std::string exhausted(std::size_t size) const;
  std::shared_ptr<cuda::Event> end_of(cudaStream_t stream);

  const std::size_t nbytes_;
  const std::string enlarge_;
  const CudaBlocks blocks_;
  std::byte* memory_ = nullptr;

  mutable std::mutex mutex_;  // guards what follows
  std::vector<std::unique_ptr<cuda::Event>> idle_events_;
  std::vector<cudaStream_t> streams_;
  std::vector<std::shared_ptr<cuda::Event>> departed_;  // ends of streams that are gone
  std::map<std::byte*, std::size_t> clean_;  // nothing that is queued touches it; by address
  std::vector<std::pair<std::byte*, std::size_t>> just_dropped_;  // no fence yet
  std::map<std::size_t, std::deque<Dropped>> dropped_;            // by size, oldest first
  std::size_t used_ = 0;
};

}  // namespace trigram
