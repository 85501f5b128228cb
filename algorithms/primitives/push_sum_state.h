#pragma once

#include "core/context.h"

namespace trigram {

/// The push-sum state of a part of the model (arXiv 1811.10792): x and its weight w, which travel
/// together. z = x / w is the estimate of the mean.
struct PushSumState {
  /// Sets x = z, w = 1.
  PushSumState(Device& device, const Tensor& z)
      : both(device.empty(z.numel() + 1, DType::f32, z.priced_numel() + 1)),
        x(both.slice(0, z.numel(), z.priced_numel())),
        w(both.slice(z.numel(), 1, 1)) {
    device.copy(x, z);
    device.fill(w, 1);
  }
  /// z = x / w. Copies w to the host.
  void estimate(Device& device, const Tensor& z) const {
    const double weight = device.norm2(w);  // w > 0
    device.axpby(static_cast<float>(1 / weight), x, 0, z);
  }

  Tensor both, x, w;
};

}  // namespace trigram
