#pragma once

#include <string>

#include "core/workloads/registry.h"

namespace trigram {

WorkloadEntry built_in_profile_entry(const std::string& name, const std::string& doc);
WorkloadEntry profile_entry();
WorkloadEntry replay_entry();
WorkloadEntry fashion_mnist_entry();
WorkloadEntry quadratic_entry();

}  // namespace trigram
