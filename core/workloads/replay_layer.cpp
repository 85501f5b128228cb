#include "core/workloads/replay_layer.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace trigram {
namespace {

/// The smaller side of the most nearly square matrix that has exactly `numel` elements.
std::size_t smaller_side(std::size_t numel) {
  auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(numel)));
  while (numel % side != 0) --side;
  return side;
}

}  // namespace

ReplayLayer::ReplayLayer(std::size_t numel, std::int64_t forward_flops, std::int64_t backward_flops)
    : forward_(forward_flops), backward_(backward_flops) {
  constexpr std::size_t kSliver = 64;  // ratio of the sides from which a matrix counts as narrow
  inputs_ = smaller_side(numel);
  outputs_ = numel / inputs_;
  if (outputs_ > kSliver * inputs_)
    inputs_ = outputs_ = static_cast<std::size_t>(std::sqrt(static_cast<double>(numel)));
}

std::int64_t ReplayLayer::rows(std::int64_t flops) const {
  return flops / (2 * static_cast<std::int64_t>(inputs_ * outputs_));
}

template <class Product>
void ReplayLayer::piece_by_piece(const ReplayBuffers& buffers, std::int64_t flops,
                                 Product product) const {
  const std::size_t wider = std::max(inputs_, outputs_);
  TRIGRAM_CHECK(buffers.x.numel() >= wider, "buffers of {} elements for a layer as wide as {}",
                buffers.x.numel(), wider);
  const auto largest = static_cast<std::int64_t>(buffers.x.numel() / wider);
  for (std::int64_t left = rows(flops); left > 0; left -= largest)
    product(static_cast<std::size_t>(std::min(left, largest)));
}

void ReplayLayer::spend_rest(Device& device, const ReplayBuffers& buffers, const Tensor& w,
                             std::int64_t flops) const {
  const auto pairs = static_cast<std::size_t>(flops / 2) % (inputs_ * outputs_);
  const std::size_t columns = pairs / inputs_, last = pairs % inputs_;
  NnOps& nn = device.nn();
  if (columns > 0)
    nn.gemm({.m = 1, .n = columns, .k = inputs_}, buffers.x.slice(0, inputs_),
            w.slice(0, inputs_ * columns), 0, buffers.y.slice(0, columns));
  if (last > 0)
    nn.gemm({.m = 1, .n = 1, .k = last}, buffers.x.slice(0, last), w.slice(0, last), 0,
            buffers.y.slice(0, 1));
}

void ReplayLayer::forward(Device& device, const ReplayBuffers& buffers, const Tensor& w) const {
  piece_by_piece(buffers, forward_, [&](std::size_t rows) {
    device.nn().gemm({.m = rows, .n = outputs_, .k = inputs_}, buffers.x.slice(0, rows * inputs_),
                     w.slice(0, inputs_ * outputs_), 0, buffers.y.slice(0, rows * outputs_));
  });
  spend_rest(device, buffers, w, forward_);
}

void ReplayLayer::backward(Device& device, const ReplayBuffers& buffers, const Tensor& w,
                           const Tensor& gradient) const {
  const std::int64_t of_weights = forward_ > 0 ? std::min(forward_, backward_) : backward_;
  const std::int64_t of_inputs = backward_ - of_weights;
  const std::size_t square = inputs_ * outputs_;
  const std::size_t written = rows(of_weights) > 0 ? square : 0;
  if (written < gradient.numel())
    device.fill(gradient.slice(written, gradient.numel() - written), 0);
  float beta = 0;
  piece_by_piece(buffers, of_weights, [&](std::size_t rows) {
    device.nn().gemm({.m = inputs_, .n = outputs_, .k = rows, .transpose_a = true},
                     buffers.x.slice(0, rows * inputs_), buffers.dy.slice(0, rows * outputs_), beta,
                     gradient.slice(0, square));
    beta = 1;
  });
  piece_by_piece(buffers, of_inputs, [&](std::size_t rows) {
    device.nn().gemm({.m = rows, .n = inputs_, .k = outputs_, .transpose_b = true},
                     buffers.dy.slice(0, rows * outputs_), w.slice(0, square), 0,
                     buffers.y.slice(0, rows * inputs_));
  });
  spend_rest(device, buffers, w, of_weights);
  spend_rest(device, buffers, w, of_inputs);
}

}  // namespace trigram
