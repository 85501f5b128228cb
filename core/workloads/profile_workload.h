#pragma once

#include <memory>

#include "core/workloads/bucketing.h"
#include "core/workloads/model.h"
#include "core/workloads/profile.h"

namespace trigram {

/// A real model that only provides values: its device charges nothing.
struct UntimedModel {
  std::unique_ptr<Device> device;  // null: the context's device, an accelerator
  std::unique_ptr<Model> model;    // null: no values are computed
};

/// A workload with the computation times and message sizes of a profile. Without a real model its
/// tensors are phantoms. With a real model, each bucket of the model's flat vectors has the price
/// of the profile's bucket, so that a small model is trained with the timing of a large model. In
/// real time a layer takes its profile time, minus the time that the model's own computation has
/// taken already.
class ProfileWorkload final : public FlatWorkload {
 public:
  /// The profile alone. If `groups` is given, bucket i holds groups[i] tensors, and `bucketize`
  /// ignores the sizes.
  ProfileWorkload(const Context& ctx, std::shared_ptr<const Profile> profile,
                  std::span<const std::size_t> groups = {});
  /// A model of `real_numel` elements and `batch` samples per step, priced as `profile`.
  ProfileWorkload(const Context& ctx, std::shared_ptr<const Profile> profile,
                  std::size_t real_numel, std::size_t batch, UntimedModel real);

  Tensor buffers() override { return buffers_; }
  void forward(Context ctx) override;
  /// A real model reads all weights at the end of the pass.
  void forward_by_bucket(Context ctx, const std::function<void(Bucket&)>& before) override;
  /// A real model's gradients are complete before the first bucket is reported.
  void backward(Context ctx, const std::function<void(Bucket&)>& on_ready) override;
  double loss() override;
  bool has_values() const override { return real_.model != nullptr; }
  Quality evaluate(std::span<const float> weights, std::size_t max_samples) override;
  std::size_t batch() const override { return batch_; }

 private:
  double seconds(const BucketRange& range, double ProfileTensor::*pass) const;
  template <class Pass>
  void run_model(const Context& ctx, Pass pass);
  void compute(const Context& ctx, double seconds);

  std::shared_ptr<const Profile> profile_;
  std::size_t batch_;
  double forward_s_;
  UntimedModel real_;
  double ahead_s_ = 0;  // seconds that the model's computation took in this mini-batch and that no
                        // layer's time has covered yet
  Tensor buffers_;      // priced as the profile's; of real length 0 if there is a real model
};

}  // namespace trigram
