#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "core/tensor.h"

namespace trigram {

class Device;

/// Which codec: its name and its options, resolved (core/codecs/registry.h).
struct CodecSpec {
  std::string name = "minmax_uint8";
  nlohmann::json options = nlohmann::json::object();
};

/// What the random numbers of a stochastic codec depend on. Every use of a codec has its own key:
/// one that differs in `use` draws independent numbers.
struct CodecKey {
  std::uint64_t seed = 0;
  int rank = 0;
  long use = 0;
};

/// How many operations an accelerator launches for a codec, as a cost model counts them. A call
/// that has one vector, or several, launches `..._call` and, for each vector, `..._vector`.
struct CodecLaunches {
  int encode_call = 0, encode_vector = 1;
  int decode_call = 0, decode_vector = 1;
  /// The mean of several decoded vectors is one operation that reads all of them, instead of a sum
  /// that they are added to one by one.
  bool mean_at_once = false;
};

/// A lossy code for vectors of f32. The wire size depends on the length alone, so that phantoms can
/// be priced. What a codec does depends on its key, and on how many vectors it has encoded, not on
/// their values before: error feedback lives outside it.
class Codec {
 public:
  virtual ~Codec() = default;
  /// Bytes on the wire for `numel` elements.
  virtual std::size_t wire_bytes(std::size_t numel) const = 0;
  /// What these count as, and take of a simulated network: fewer where the wire holds in fixed
  /// places what would travel in a form whose length depends on the values.
  virtual std::size_t priced_bytes(std::size_t numel) const { return wire_bytes(numel); }
  /// What its price is made of, whoever implements it.
  virtual CodecLaunches launches() const { return {}; }
  /// Writes the code of `x` (f32) to `wire` (u8, `wire_bytes(x.numel())` long).
  virtual void encode(const Tensor& wire, const Tensor& x) = 0;
  /// Writes the vector that `wire` stands for to `x`.
  virtual void decode(const Tensor& x, const Tensor& wire) = 0;

  // What algorithms do with codes beyond that, each in terms of the two above and of `device`, on
  // which the tensors are. A codec overrides one where its device can do it in fewer passes over
  // memory; the values are the same to the last bit.

  /// Encodes several vectors, in this order.
  virtual void encode_each(std::span<const Tensor> wires, std::span<const Tensor> xs);
  virtual void decode_each(std::span<const Tensor> xs, std::span<const Tensor> wires);
  /// Encodes with error feedback:  v = x + e;  wire = C(v);  e = v - D(wire),  for every x with its
  /// e of `residuals`.
  virtual void encode_each_with_feedback(Device& device, std::span<const Tensor> wires,
                                         std::span<const Tensor> xs,
                                         std::span<const Tensor> residuals);
  /// x = the mean of what the wires, at least one, stand for, added in this order.
  virtual void decode_mean(Device& device, const Tensor& x, std::span<const Tensor> wires);
  /// The code of that mean, with feedback if there is a residual. `mean` is room for it, and may
  /// hold anything afterwards.
  virtual void encode_mean(Device& device, const Tensor& wire, std::span<const Tensor> wires,
                           const Tensor& mean, const Tensor* residual);

  /// An uninitialised wire tensor for the code of `x`, real and priced lengths both.
  Tensor empty_wire(Device& device, const Tensor& x) const;
};

}  // namespace trigram
