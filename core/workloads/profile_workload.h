#pragma once

#include <memory>
#include <span>

#include "core/workloads/model.h"
#include "core/workloads/profile.h"

namespace trigram {

/// A real model that only provides values: its device charges nothing.
struct UntimedModel {
  std::unique_ptr<Device> device;      // null: the context's device, an accelerator
  std::unique_ptr<Model> model;        // null: no values are computed
  std::function<double()> loads = {};  // ModelFactory::make_loads
};

/// A workload with the computation times and message sizes of a profile, whose tensors are
/// phantoms. If `groups` is given, bucket i holds groups[i] tensors, and `bucketize` ignores the
/// sizes.
std::unique_ptr<Workload> profile_workload(const Context& ctx,
                                           std::shared_ptr<const Profile> profile,
                                           std::span<const std::size_t> groups = {});

/// A model of `real_numel` weights and `batch` samples per step, with the computation times and
/// message sizes of a profile: each bucket of the model's flat vectors has the price of the
/// profile's bucket, so that a small model is trained with the timing of a large model. In real
/// time a layer takes its profile time, multiplied by the mini-batch's load and minus the time that
/// the model's own computation has taken already.
std::unique_ptr<Workload> priced_workload(const Context& ctx,
                                          std::shared_ptr<const Profile> profile,
                                          std::size_t real_numel, std::size_t batch,
                                          UntimedModel real);

}  // namespace trigram
