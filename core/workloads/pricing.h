#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/config/fields.h"
#include "core/workloads/model.h"
#include "core/workloads/profile_options.h"
#include "core/workloads/registry.h"

namespace trigram {

/// Options of every workload with a real model.
struct Pricing {
  std::optional<std::string> priced_as;  // reference to a profile
  ProfileOptions priced_with;            // that profile's, but for its buckets
  bool values = true;
};
FieldTable<Pricing> pricing_fields();

/// The workload of a model: with its own size and operations, or priced as a profile. Throws
/// ConfigError below `pointer` when the profile cannot be read.
std::unique_ptr<WorkloadFactory> make_model_workload_factory(std::unique_ptr<ModelFactory> models,
                                                             const Pricing& pricing,
                                                             const std::string& pointer);

/// The workload of the profile in `file`, a phantom. Throws ConfigError below `pointer` when the
/// profile cannot be read, or has other tensors than its buckets.
std::unique_ptr<WorkloadFactory> make_profile_workload_factory(const std::filesystem::path& file,
                                                               const ProfileOptions& options,
                                                               const std::string& pointer);

}  // namespace trigram
