#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/config/fields.h"
#include "core/workloads/model.h"
#include "core/workloads/profile_options.h"
#include "core/workloads/registry.h"

namespace trigram {

/// Options of all workloads with a real model.
struct Pricing {
  std::optional<std::string> priced_as;  // reference to a profile
  ProfileOptions priced_with;            // options of that profile, except buckets
  bool values = true;
};
FieldTable<Pricing> pricing_fields();

/// Creates the factory of a model's workload, with the model's own sizes and operations, or priced
/// as a profile. Throws ConfigError below `pointer` if the profile cannot be read.
std::unique_ptr<WorkloadFactory> make_model_workload_factory(std::unique_ptr<ModelFactory> models,
                                                             const Pricing& pricing,
                                                             const std::string& pointer);

/// Creates the factory of a phantom workload for the profile in `file`. Throws ConfigError below
/// `pointer` if the profile cannot be read, or if its tensors do not match `options.buckets`.
std::unique_ptr<WorkloadFactory> make_profile_workload_factory(const std::filesystem::path& file,
                                                               const ProfileOptions& options,
                                                               const std::string& pointer);

}  // namespace trigram
