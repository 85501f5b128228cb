#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "core/tensor.h"

namespace trigram::host {

/// A pool of memory for messages that are sent before their receive is posted. Thread-safe.
class Staging {
 public:
  /// Memory whose size is a power of two. Idle blocks are kept in one free list per size.
  struct Block {
    std::unique_ptr<std::byte[]> memory;
    std::size_t size_class = 0;
  };
  Block take(std::size_t nbytes);
  /// Returns a block to the pool, or frees it if the pool would exceed kMostIdle.
  void give_back(Block block);

  static constexpr std::size_t kMostIdle = std::size_t{64} << 20;  // bytes

 private:
  std::mutex mutex_;
  std::array<std::vector<Block>, 64> idle_;
  std::size_t idle_nbytes_ = 0;
};

/// A copy of a message at the time of its send: its shape and its values.
class StagedTensor {
 public:
  StagedTensor() = default;
  ~StagedTensor() { clear(); }
  StagedTensor(const StagedTensor&) = delete;
  StagedTensor& operator=(const StagedTensor&) = delete;

  /// `staging` must outlive this StagedTensor.
  void pack(const Tensor& tensor, Staging& staging);
  const Tensor& tensor() const { return tensor_; }
  void clear();

 private:
  Tensor tensor_;
  Staging::Block block_;
  Staging* staging_ = nullptr;  // the pool to which block_ belongs
};

}  // namespace trigram::host
