#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/workloads/bucketing.h"
#include "core/workloads/profile.h"
#include "core/workloads/replay_layer.h"

namespace trigram {

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

  Tensor buffers() override { return kept_; }
  void forward(Context ctx) override;
  void forward_by_bucket(Context ctx, const std::function<void(Bucket&)>& before) override;
  void backward(Context ctx, const std::function<void(Bucket&)>& on_ready) override;
  double loss() override;
  bool has_values() const override { return values_; }
  bool learns() const override { return false; }
  Quality evaluate(std::span<const float> weights, std::size_t most) override;
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
  Tensor kept_;  // the model's non-parameter state
};

}  // namespace trigram
