#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/tensor.h"

namespace trigram::sim {

class Connection;

/// A message in flight: the shape of the tensor and a copy of its values, because the sender may
/// overwrite its tensor before the message arrives. It has the size of a cache line, because
/// thousands of parcels are in flight at a time.
class alignas(64) Parcel {
 public:
  void pack(const Tensor& tensor);
  /// True if the receiver's tensor has the lengths and the type of the sent tensor, and both are
  /// phantoms or both have values.
  bool fits(const Tensor& tensor) const {
    return tensor.numel() == numel_ && tensor.priced_numel() == priced_numel_ &&
           tensor.dtype() == dtype_ && (tensor.is_phantom() == phantom_ || numel_ == 0);
  }
  /// The shape of the sent tensor, for comparison only: its values must not be read.
  Tensor shape() const;
  /// Copies the values, if there are any, to a tensor that fits.
  void unpack(const Tensor& tensor) const;
  /// For an eager transport: the connection whose buffer holds the message until it is received.
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
