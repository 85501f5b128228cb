#pragma once

#include <cstddef>
#include <cstdint>

#include "core/device.h"

namespace trigram {

/// What all layers of a replayed model share in place of activations: `x` goes into a layer, `dy`
/// comes back to it, results that nobody reads go to `y`. Equal lengths; x and dy hold numbers.
struct ReplayBuffers {
  Tensor x, dy, y;
};

/// One tensor of a profile as matrix products of the layer's FLOPs. The tensor is taken for a
/// matrix w[inputs, outputs], as square as its length allows, or, where that would be a sliver, for
/// the largest square that fits in it. Forward, as many rows as the FLOPs pay for are multiplied,
///
///   y[rows, outputs] = x[rows, inputs] w,      2 * rows * inputs * outputs FLOPs;
///
/// backward, the gradient of w, x' dy, with at most the FLOPs of the forward pass, and with the
/// rest the gradient of the inputs, dy w'. FLOPs that do not fill a row are spent on smaller
/// products, so that all are issued, but for an odd one. Rows are multiplied piece by piece, as
/// many as fit into the buffers at a time: large activations cost no memory, and pieces of a whole
/// buffer keep a device busy.
class ReplayLayer {
 public:
  ReplayLayer(std::size_t numel, std::int64_t forward_flops, std::int64_t backward_flops);

  std::size_t inputs() const { return inputs_; }
  std::size_t outputs() const { return outputs_; }
  std::int64_t forward_flops() const { return forward_; }
  std::int64_t backward_flops() const { return backward_; }

  void forward(Device& device, const ReplayBuffers& buffers, const Tensor& w) const;
  /// Writes all of `gradient`; where no product does, zeros.
  void backward(Device& device, const ReplayBuffers& buffers, const Tensor& w,
                const Tensor& gradient) const;

 private:
  std::int64_t rows(std::int64_t flops) const;
  void spend_rest(Device& device, const ReplayBuffers& buffers, const Tensor& w,
                  std::int64_t flops) const;
  template <class Product>
  void piece_by_piece(const ReplayBuffers& buffers, std::int64_t flops, Product product) const;

  std::size_t inputs_, outputs_;
  std::int64_t forward_, backward_;
};

}  // namespace trigram
