#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "core/tensor.h"

namespace trigram::host {

/// Memory for messages that were sent before their receiver asked, used again and again. Any thread
/// may call it.
class Staging {
 public:
  /// Memory of a power of two of bytes, kept between messages in a list for each of these.
  struct Block {
    std::unique_ptr<std::byte[]> memory;
    std::size_t size_class = 0;
  };
  Block take(std::size_t nbytes);
  /// Memory beyond kMostIdle is not kept.
  void give_back(Block block);

  static constexpr std::size_t kMostIdle = std::size_t{64} << 20;  // bytes

 private:
  std::mutex mutex_;
  std::array<std::vector<Block>, 64> idle_;
  std::size_t idle_nbytes_ = 0;
};

/// A message as it was when it was sent: its shape, and a copy of its values.
class StagedTensor {
 public:
  StagedTensor() = default;
  ~StagedTensor() { clear(); }
  StagedTensor(const StagedTensor&) = delete;
  StagedTensor& operator=(const StagedTensor&) = delete;

  /// `staging` outlives this.
  void pack(const Tensor& tensor, Staging& staging);
  const Tensor& tensor() const { return tensor_; }
  void clear();

 private:
  Tensor tensor_;
  Staging::Block block_;
  Staging* staging_ = nullptr;  // of the block
};

}  // namespace trigram::host
