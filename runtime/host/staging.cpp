#include "runtime/host/staging.h"

#include <bit>
#include <cstring>
#include <utility>

namespace trigram::host {

Staging::Block Staging::take(std::size_t nbytes) {
  const auto size_class = static_cast<std::size_t>(std::bit_width(nbytes - 1));
  {
    std::lock_guard lock(mutex_);
    auto& idle = idle_[size_class];
    if (!idle.empty()) {
      Block block = std::move(idle.back());
      idle.pop_back();
      idle_nbytes_ -= std::size_t{1} << size_class;
      return block;
    }
  }
  return {std::make_unique_for_overwrite<std::byte[]>(std::size_t{1} << size_class), size_class};
}

void Staging::give_back(Block block) {
  const std::size_t nbytes = std::size_t{1} << block.size_class;
  std::lock_guard lock(mutex_);
  if (idle_nbytes_ + nbytes > kMostIdle) return;
  idle_nbytes_ += nbytes;
  idle_[block.size_class].push_back(std::move(block));
}

void StagedTensor::pack(const Tensor& tensor, Staging& staging) {
  const bool has_values = !tensor.is_phantom() && tensor.nbytes() > 0;
  if (!has_values) {
    tensor_ = tensor;  // a phantom has no values that could be overwritten
    return;
  }
  staging_ = &staging;
  block_ = staging.take(tensor.nbytes());
  std::memcpy(block_.memory.get(), tensor.data(), tensor.nbytes());
  tensor_ = {std::shared_ptr<std::byte>(std::shared_ptr<void>(), block_.memory.get()),
             tensor.numel(), tensor.dtype(), tensor.priced_numel()};
}

void StagedTensor::clear() {
  tensor_ = {};
  if (block_.memory) staging_->give_back(std::move(block_));
  block_ = {};
}

}  // namespace trigram::host
