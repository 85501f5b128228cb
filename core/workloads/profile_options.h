#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/config/fields.h"
#include "core/workloads/profile.h"

// Options that adapt a profile in a configuration: the speed of the user's machine, the batch, and
// which tensors are exchanged together.

namespace trigram {

/// Tensors that are exchanged as one message: their names, or the numbers of the first and the
/// last, from 0 in the order in which backward completes gradients.
struct TensorRange {
  std::int64_t first = 0, last = 0;
};
using TensorGroup = std::variant<std::vector<std::string>, TensorRange>;

/// The accelerator that layer times are converted to: given by its rates, or taken from the
/// cluster. Planning an experiment sets `rates` to those of the cluster, if the cluster gives them.
struct TargetAccelerator {
  AcceleratorRates rates;
  bool of_cluster = false;
};

struct ProfileOptions {
  /// Seconds of one forward and one backward pass over the batch on one worker, without the
  /// optimizer's step and without communication.
  std::optional<double> step_s;
  std::optional<std::size_t> batch;  // samples per worker and step
  std::optional<TargetAccelerator> accelerator;
  std::vector<TensorGroup> buckets;  // empty: buckets by size
};
FieldTable<ProfileOptions> profile_option_fields();

/// The options for another machine or another batch: step_time, batch, accelerator.
FieldTable<ProfileOptions> adaptation_fields();

/// The profile with the options applied. A measured step time scales all layer times by one factor,
/// which keeps their shares. Without a step time, another batch scales them by the number of
/// samples, and another accelerator by its rates (accelerator_scaling.h). Both are assumptions, not
/// measurements, and are added to `assumed`.
Profile adapted(Profile profile, const ProfileOptions& options);

/// The layer times that result from `adapted`.
LayerTimes layer_times(const Profile& profile, const ProfileOptions& options);

/// The number of tensors in each group. Throws ConfigError below `pointer`, which points to the
/// groups, unless they contain every tensor once, in the order in which backward completes
/// gradients.
std::vector<std::size_t> group_sizes(const Profile& profile, const std::vector<TensorGroup>& groups,
                                     const std::string& pointer);

}  // namespace trigram
