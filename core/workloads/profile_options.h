#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/config/fields.h"
#include "core/workloads/profile.h"

// The options of a profile in a configuration: how fast the user's own machine is, with which
// batch, and which tensors are exchanged together.

namespace trigram {

/// Tensors that are exchanged as one message: their names, or the first and last of them as numbers
/// in the order in which backward completes gradients, from 0.
struct TensorRange {
  std::int64_t first = 0, last = 0;
};
using TensorGroup = std::variant<std::vector<std::string>, TensorRange>;

/// The accelerator on which layers are to take their time: given by its rates, or that of the
/// cluster, which stands here once the experiment is planned, if the cluster says its rates.
struct OtherAccelerator {
  AcceleratorRates rates;
  bool of_cluster = false;
};

struct ProfileOptions {
  /// Seconds of one forward and one backward pass over the batch on one worker, without the
  /// optimizer's step and without any communication.
  std::optional<double> step_s;
  std::optional<std::size_t> batch;  // samples per worker and step
  std::optional<OtherAccelerator> accelerator;
  std::vector<TensorGroup> buckets;  // none: buckets by size
};
FieldTable<ProfileOptions> profile_option_fields();

/// How a machine and a batch that are not the profile's are said: step_time, batch, accelerator.
FieldTable<ProfileOptions> adaptation_fields();

/// The profile as the options have it. A measured step scales the times of all layers by one
/// factor, which keeps their shares. A batch without one scales them with the number of samples,
/// and an accelerator by its rates (accelerator_scaling.h), neither of which anybody has measured:
/// then `assumed` says so.
Profile adapted(Profile profile, const ProfileOptions& options);

/// What `adapted` makes of the profile's layer times.
LayerTimes layer_times(const Profile& profile, const ProfileOptions& options);

/// How many tensors each group holds. Throws ConfigError below `pointer`, that of the groups,
/// unless they hold every tensor once, in the order in which backward completes gradients.
std::vector<std::size_t> group_sizes(const Profile& profile, const std::vector<TensorGroup>& groups,
                                     const std::string& pointer);

}  // namespace trigram
