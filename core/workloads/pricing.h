#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/config/fields.h"
#include "core/workloads/model.h"
#include "core/workloads/profile_options.h"
#include "core/workloads/registry.h"

namespace trigram {

/// The options of all workloads with a real model. A workload is priced as a profile if its
/// computation times and message sizes come from that profile instead of from the model.
struct Pricing {
  std::optional<std::string> priced_as;  // reference to a profile
  ProfileOptions priced_with;            // options of that profile, except buckets
  bool values = true;                    // false: tensors are phantoms (core/tensor.h)
};
FieldTable<Pricing> pricing_fields();

/// Creates the factory of a model's workload. With `priced_as`, the sizes and times of the profile
/// replace the model's own. Throws ConfigError below `pointer` if the profile cannot be read.
std::unique_ptr<WorkloadFactory> make_model_workload_factory(std::unique_ptr<ModelFactory> models,
                                                             const Pricing& pricing,
                                                             const std::string& pointer);

}  // namespace trigram
