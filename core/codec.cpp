#include "core/codec.h"

#include "core/check.h"
#include "core/device.h"

namespace trigram {

void Codec::encode_each(std::span<const Tensor> wires, std::span<const Tensor> xs) {
  TRIGRAM_CHECK(wires.size() == xs.size(), "{} vectors on {} wires", xs.size(), wires.size());
  for (std::size_t i = 0; i < xs.size(); ++i) encode(wires[i], xs[i]);
}

void Codec::decode_each(std::span<const Tensor> xs, std::span<const Tensor> wires) {
  TRIGRAM_CHECK(wires.size() == xs.size(), "{} vectors on {} wires", xs.size(), wires.size());
  for (std::size_t i = 0; i < xs.size(); ++i) decode(xs[i], wires[i]);
}

void Codec::encode_each_with_feedback(Device& device, std::span<const Tensor> wires,
                                      std::span<const Tensor> xs,
                                      std::span<const Tensor> residuals) {
  TRIGRAM_CHECK(wires.size() == xs.size() && residuals.size() == xs.size(),
                "{} vectors with {} residuals on {} wires", xs.size(), residuals.size(),
                wires.size());
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const Tensor sum = device.empty_like(xs[i]);
    device.copy(sum, xs[i]);
    device.axpby(1, residuals[i], 1, sum);
    encode(wires[i], sum);
    decode(residuals[i], wires[i]);
    device.axpby(1, sum, -1, residuals[i]);
  }
}

void Codec::decode_mean(Device& device, const Tensor& x, std::span<const Tensor> wires) {
  TRIGRAM_CHECK(!wires.empty(), "decode_mean needs at least one wire");
  const Tensor decoded = device.empty_like(x);
  decode(x, wires[0]);
  for (const Tensor& wire : wires.subspan(1)) {
    decode(decoded, wire);
    device.axpby(1, decoded, 1, x);
  }
  device.axpby(1.0f / static_cast<float>(wires.size()), x, 0, x);
}

void Codec::encode_mean(Device& device, const Tensor& wire, std::span<const Tensor> wires,
                        const Tensor& mean, const Tensor* residual) {
  decode_mean(device, mean, wires);
  if (!residual) return encode(wire, mean);
  encode_each_with_feedback(device, {&wire, 1}, {&mean, 1}, {residual, 1});
}

Tensor Codec::empty_wire(Device& device, const Tensor& x) const {
  return device.empty(wire_bytes(x.numel()), DType::u8, priced_bytes(x.priced_numel()));
}

void check_wire(const Codec& codec, const Tensor& wire, const Tensor& x) {
  TRIGRAM_CHECK(!wire.is_phantom() && !x.is_phantom(), "a phantom has no values to code");
  TRIGRAM_CHECK(x.dtype() == DType::f32 && wire.dtype() == DType::u8, "f32 is coded as u8");
  TRIGRAM_CHECK(wire.numel() == codec.wire_bytes(x.numel()), "{} elements on a wire of {} bytes",
                x.numel(), wire.numel());
}

}  // namespace trigram
