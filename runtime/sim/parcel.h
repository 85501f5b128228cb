#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/tensor.h"

namespace trigram::sim {

/// A message on its way: the shape of what was sent and a copy of its values, since the sender may
/// overwrite its tensor before the message arrives.
class Parcel {
 public:
  void pack(const Tensor& tensor);
  /// Copies the values, if any, to a tensor of the same size.
  void unpack(const Tensor& tensor) const;
  /// What was sent; compared with what is expected, never read.
  const Tensor& shape() const { return shape_; }

 private:
  Tensor shape_;
  std::size_t nbytes_ = 0, capacity_ = 0;
  std::unique_ptr<std::byte[]> values_;
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
