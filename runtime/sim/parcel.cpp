#include "runtime/sim/parcel.h"

#include <cstring>

namespace trigram::sim {

void Parcel::pack(const Tensor& tensor) {
  nbytes_ = tensor.is_phantom() ? 0 : tensor.nbytes();
  if (nbytes_ > capacity_) {
    values_ = std::make_unique_for_overwrite<std::byte[]>(nbytes_);
    capacity_ = nbytes_;
  }
  if (nbytes_ > 0) std::memcpy(values_.get(), tensor.data(), nbytes_);
  // Points at the values without owning them: a tensor with a pointer is not a phantom.
  std::shared_ptr<std::byte> values(std::shared_ptr<void>(), nbytes_ > 0 ? values_.get() : nullptr);
  shape_ = Tensor(std::move(values), tensor.numel(), tensor.dtype(), tensor.priced_numel());
}

void Parcel::unpack(const Tensor& tensor) const {
  if (nbytes_ > 0) std::memcpy(tensor.data(), values_.get(), nbytes_);
}

Parcel* ParcelPool::take() {
  if (free_.empty()) {
    all_.push_back(std::make_unique<Parcel>());
    return all_.back().get();
  }
  Parcel* parcel = free_.back();
  free_.pop_back();
  return parcel;
}

}  // namespace trigram::sim
