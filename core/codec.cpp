#include "core/codec.h"

#include "core/device.h"

namespace trigram {

Tensor Codec::empty_wire(Device& device, const Tensor& x) const {
  return device.empty(wire_bytes(x.numel()), DType::u8, wire_bytes(x.priced_numel()));
}

}  // namespace trigram
