#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "core/tensor.h"

namespace trigram {

class Device;

/// Which codec, by name.
struct CodecSpec {
  std::string name = "minmax_uint8";
};

/// A lossy code for vectors of f32. The wire size depends on the length alone, so that phantoms can
/// be priced. Codecs are stateless: error feedback lives outside them.
class Codec {
 public:
  virtual ~Codec() = default;
  /// Bytes on the wire for `numel` elements.
  virtual std::size_t wire_bytes(std::size_t numel) const = 0;
  /// Writes the code of `x` (f32) to `wire` (u8, `wire_bytes(x.numel())` long).
  virtual void encode(const Tensor& wire, const Tensor& x) = 0;
  /// Writes the vector that `wire` stands for to `x`.
  virtual void decode(const Tensor& x, const Tensor& wire) = 0;

  /// An uninitialised wire tensor for the code of `x`, real and priced lengths both.
  Tensor empty_wire(Device& device, const Tensor& x) const;
};

}  // namespace trigram
