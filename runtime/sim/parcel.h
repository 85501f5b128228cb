#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/tensor.h"

namespace trigram::sim {

class Connection;

/// A message on its way: the shape of what was sent and a copy of its values, since the sender may
/// overwrite its tensor before the message arrives. It fills one cache line: thousands are under
/// way at a time.
class alignas(64) Parcel {
 public:
  void pack(const Tensor& tensor);
  /// True when the receiver's tensor has the lengths and the type of what was sent, and both are
  /// phantoms or both have values.
  bool fits(const Tensor& tensor) const {
    return tensor.numel() == numel_ && tensor.priced_numel() == priced_numel_ &&
           tensor.dtype() == dtype_ && (tensor.is_phantom() == phantom_ || numel_ == 0);
  }
  /// What was sent, as a tensor to be compared, not read.
  Tensor shape() const;
  /// Copies the values, if any, to a tensor that fits.
  void unpack(const Tensor& tensor) const;
  /// The connection that holds it until it has been received, of an eager transport.
  Connection* connection = nullptr;
  double held_bytes = 0;

 private:
  std::size_t numel_ = 0, priced_numel_ = 0;
  std::unique_ptr<std::byte[]> values_;
  std::size_t capacity_ = 0;
  DType dtype_ = DType::f32;
  bool phantom_ = true;
};

/// Owns all parcels and reuses those that were delivered.
class ParcelPool {
 public:
  Parcel* take();
  void give_back(Parcel* parcel) { free_.push_back(parcel); }

 private:
  std::vector<std::unique_ptr<Parcel>> all_;
  std::vector<Parcel*> free_;
};

}  // namespace trigram::sim
