#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/device.h"
#include "core/workloads/bucketing.h"
#include "core/workloads/profile.h"

namespace trigram {

/// Buffers that all layers of a replayed model share in place of activations: a layer reads its
/// input from `x` and the gradient of its output from `dy`, and writes its results to `y`, which is
/// never read. The three have equal lengths. x and dy hold small random numbers.
struct ReplayBuffers {
  Tensor x, dy, y;
};

/// One tensor of a profile, replayed as matrix products with the layer's FLOPs. The tensor is
/// treated as a matrix w[inputs, outputs] that is as square as its length allows. If that matrix
/// would be very long and narrow, w is the largest square that fits. The forward pass multiplies as
/// many rows as the FLOPs allow,
///
///   y[rows, outputs] = x[rows, inputs] w,      2 * rows * inputs * outputs FLOPs.
///
/// The backward pass computes the gradient of w, x' dy, with at most the FLOPs of the forward pass.
/// It spends the rest of its FLOPs on the gradient of the inputs, dy w'. FLOPs that do not fill a
/// row go into smaller products, so that all FLOPs are issued, except one if their number is odd.
/// Rows are multiplied in pieces as large as the buffers: large activations thus cost no memory,
/// and the pieces are large enough to keep a device busy.
class ReplayLayer {
 public:
  ReplayLayer(std::size_t numel, std::int64_t forward_flops, std::int64_t backward_flops);

  std::size_t inputs() const { return inputs_; }
  std::size_t outputs() const { return outputs_; }
  std::int64_t forward_flops() const { return forward_; }
  std::int64_t backward_flops() const { return backward_; }

  void forward(Device& device, const ReplayBuffers& buffers, const Tensor& w) const;
  /// Writes all of `gradient`; elements that no product computes become zero.
  void backward(Device& device, const ReplayBuffers& buffers, const Tensor& w,
                const Tensor& gradient) const;

 private:
  std::int64_t rows(std::int64_t flops) const;
  void issue_rest(Device& device, const ReplayBuffers& buffers, const Tensor& w,
                  std::int64_t flops) const;
  template <class Product>
  void for_each_piece(const ReplayBuffers& buffers, std::int64_t flops, Product product) const;

  std::size_t inputs_, outputs_;
  std::int64_t forward_, backward_;
};

/// A profiled model that loads device and network like the real model. Its weights and gradients
/// have values and their true sizes, and its layers are matrix products with the FLOPs of the
/// profile. It learns nothing. On a device that creates phantoms, the same products are charged but
/// not computed.
class ReplayWorkload final : public FlatWorkload {
 public:
  /// `profile` must have FLOPs, for the replayed batch. All activations share three buffers. Each
  /// has `buffer_bytes`, or the size of one row of the widest layer if that is larger.
  ReplayWorkload(const Context& ctx, std::shared_ptr<const Profile> profile,
                 std::size_t buffer_bytes, bool values, std::uint64_t seed);

  Tensor buffers() override { return state_; }
  void forward(Context ctx) override;
  void forward_by_bucket(Context ctx, const std::function<void(Bucket&)>& before) override;
  void backward(Context ctx, const std::function<void(Bucket&)>& on_ready) override;
  bool has_values() const override { return values_; }
  bool learns() const override { return false; }
  std::size_t batch() const override { return profile_->batch; }

  /// One pass through tensor `i`, counted in the order of the forward pass.
  void forward_tensor(const Context& ctx, std::size_t i);
  void backward_tensor(const Context& ctx, std::size_t i);
  const Profile& profile() const { return *profile_; }

 private:
  std::shared_ptr<const Profile> profile_;
  bool values_;
  std::vector<ReplayLayer> layers_;  // in the order of the forward pass
  std::vector<std::size_t> begins_;  // offset of each tensor in the flat vectors
  ReplayBuffers buffers_;
  Tensor state_;  // the model's non-parameter state
};

}  // namespace trigram
