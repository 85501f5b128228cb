#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/tensor.h"

namespace trigram {

class Device;

/// Selects a codec by name, with its resolved options (core/codecs/registry.h).
struct CodecSpec {
  std::string name = "minmax_uint8";
  nlohmann::json options = nlohmann::json::object();
};

/// Keys the random numbers of a stochastic codec. Every use of a codec has its own key: keys that
/// differ only in `use` give independent numbers.
struct CodecKey {
  std::uint64_t seed = 0;
  int rank = 0;
  long use = 0;
};

/// How many kernels an accelerator launches for a codec, as the cost model counts them. A call
/// launches `..._call` kernels, plus `..._vector` kernels for each of its vectors.
struct CodecLaunches {
  int encode_call = 0, encode_vector = 1;
  int decode_call = 0, decode_vector = 1;
  /// True if one kernel reads all decoded vectors and writes their mean; false if vectors are added
  /// to a sum one by one.
  bool fused_mean = false;
};

/// A lossy code for f32 vectors. The wire size depends only on the vector's length, so that the
/// cost of a phantom (core/tensor.h) is known. The result depends on the key and on how many
/// vectors the codec has encoded before, but not on the values of those vectors: error feedback is
/// kept outside the codec.
class Codec {
 public:
  virtual ~Codec() = default;
  /// Bytes on the wire for `numel` elements.
  virtual std::size_t wire_bytes(std::size_t numel) const = 0;
  /// Bytes that the traffic counters and the simulated network charge for `numel` elements. The
  /// number is below `wire_bytes` if the length of the codec's real format depends on the values:
  /// this program then stores the code in a layout of fixed size.
  virtual std::size_t priced_bytes(std::size_t numel) const { return wire_bytes(numel); }
  /// Kernel launches that the cost model charges, however the codec is implemented.
  virtual CodecLaunches launches() const { return {}; }
  /// Writes the code of `x` (f32) to `wire` (u8, `wire_bytes(x.numel())` long).
  virtual void encode(const Tensor& wire, const Tensor& x) = 0;
  /// Decodes `wire` into `x`.
  virtual void decode(const Tensor& x, const Tensor& wire) = 0;

  // Further operations on codes that algorithms need. The defaults call only encode, decode and
  // `device`, which holds the tensors. A codec overrides an operation if its device can do it in
  // fewer passes over memory; the override must give the same values to the last bit.

  /// Encodes several vectors, in this order.
  virtual void encode_each(std::span<const Tensor> wires, std::span<const Tensor> xs);
  virtual void decode_each(std::span<const Tensor> xs, std::span<const Tensor> wires);
  /// Encodes every x with error feedback. e is the tensor of `residuals` that belongs to x:
  /// v = x + e;  wire = C(v);  e = v - D(wire).
  virtual void encode_each_with_feedback(Device& device, std::span<const Tensor> wires,
                                         std::span<const Tensor> xs,
                                         std::span<const Tensor> residuals);
  /// x = the mean of one or more decoded wires, added in this order, or what a codec's option says.
  virtual void decode_mean(Device& device, const Tensor& x, std::span<const Tensor> wires);
  /// Encodes the mean of the decoded `wires` into `wire`, with error feedback if `residual` is not
  /// null. `mean` is scratch space for the mean and holds unspecified values afterwards.
  virtual void encode_mean(Device& device, const Tensor& wire, std::span<const Tensor> wires,
                           const Tensor& mean, const Tensor* residual);

  /// An uninitialised wire tensor for the code of `x`; sets both the real and the priced length.
  Tensor empty_wire(Device& device, const Tensor& x) const;
};

/// Throws InvariantError unless `wire` (u8) and `x` (f32) have values and `wire` has the length
/// that `codec` needs for x.
void check_wire(const Codec& codec, const Tensor& wire, const Tensor& x);

}  // namespace trigram
