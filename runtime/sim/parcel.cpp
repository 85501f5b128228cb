#include "runtime/sim/parcel.h"

#include <cstring>

namespace trigram::sim {

void Parcel::pack(const Tensor& tensor) {
  numel_ = tensor.numel();
  priced_numel_ = tensor.priced_numel();
  dtype_ = tensor.dtype();
  phantom_ = tensor.is_phantom();
  const std::size_t nbytes = tensor.nbytes();
  if (phantom_ || nbytes == 0) return;
  if (nbytes > capacity_) {
    values_ = std::make_unique_for_overwrite<std::byte[]>(nbytes);
    capacity_ = nbytes;
  }
  std::memcpy(values_.get(), tensor.data(), nbytes);
}

void Parcel::unpack(const Tensor& tensor) const {
  if (!phantom_ && numel_ > 0) std::memcpy(tensor.data(), values_.get(), tensor.nbytes());
}

Tensor Parcel::shape() const {
  if (phantom_) return Tensor::phantom(numel_, dtype_, priced_numel_);
  return {std::shared_ptr<std::byte>(std::shared_ptr<void>(), values_.get()), numel_, dtype_,
          priced_numel_};
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
