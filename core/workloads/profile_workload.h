#pragma once

#include <memory>

#include "core/workloads/bucketing.h"
#include "core/workloads/model.h"
#include "core/workloads/profile.h"

namespace trigram {

/// A model for its values alone: its device charges nothing.
struct UntimedModel {
  std::unique_ptr<Device> device;  // null: that of the context, which is an accelerator's
  std::unique_ptr<Model> model;    // null: no values are computed
};

/// Computation times and message sizes of a profile. By itself it is a phantom; with a real model
/// behind it, the model's flat vectors are priced as the profile's, bucket by bucket, so that a
/// small model is trained with the timing of a large one. In real time a layer takes its time
/// less what the model has taken already.
class ProfileWorkload final : public FlatWorkload {
 public:
  /// The profile alone; in buckets of so many tensors each, if that is given, whatever size they
  /// should have.
  ProfileWorkload(const Context& ctx, std::shared_ptr<const Profile> profile,
                  std::span<const std::size_t> groups = {});
  /// A model of `real_numel` elements and `batch` samples per step priced as `profile`.
  ProfileWorkload(const Context& ctx, std::shared_ptr<const Profile> profile,
                  std::size_t real_numel, std::size_t batch, UntimedModel real);

  Tensor buffers() override { return buffers_; }
  void forward(Context ctx) override;
  /// A real model behind it reads all weights at the end of the pass.
  void forward_by_bucket(Context ctx, const std::function<void(Bucket&)>& before) override;
  /// Real gradients are complete before the first bucket is reported.
  void backward(Context ctx, const std::function<void(Bucket&)>& on_ready) override;
  double loss() override;
  bool has_values() const override { return real_.model != nullptr; }
  Quality evaluate(std::span<const float> weights, std::size_t most) override;
  std::size_t batch() const override { return batch_; }

 private:
  double seconds(const BucketCut& cut, double ProfileTensor::*pass) const;
  template <class Pass>
  void run_model(const Context& ctx, Pass pass);
  void compute(const Context& ctx, double seconds);

  std::shared_ptr<const Profile> profile_;
  std::size_t batch_;
  double forward_s_;
  UntimedModel real_;
  double ahead_s_ = 0;  // of the model's time in this mini-batch: no layer has made up for it yet
  Tensor buffers_;      // priced; a real model behind it has none
};

}  // namespace trigram
