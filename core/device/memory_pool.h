#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace trigram {

/// A pool of blocks of host memory. A block returns to the pool when the last tensor that shares it
/// is destroyed. Thread-safe. The pool lives until the device and all its blocks are gone.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  static constexpr std::size_t kAlignment =
      64;  // bytes; one cache line, and the widest vector register

  static std::shared_ptr<MemoryPool> create() { return std::make_shared<MemoryPool>(); }
  ~MemoryPool();

  /// Returns at least `nbytes` uninitialised bytes; never null, even for 0 bytes.
  std::shared_ptr<std::byte> allocate(std::size_t nbytes);

 private:
  void release(std::byte* block, std::size_t size) noexcept;

  std::mutex mutex_;
  std::map<std::size_t, std::vector<std::byte*>> free_;  // by block size
};

}  // namespace trigram
