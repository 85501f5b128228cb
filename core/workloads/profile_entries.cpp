#include "core/workloads/entries.h"
#include "core/workloads/pricing.h"
#include "core/workloads/profile_reference.h"

namespace trigram {
namespace {

struct FileOptions {
  std::string path;
  ProfileOptions profile;
};

}  // namespace

WorkloadEntry built_in_profile_entry(const std::string& name, const std::string& doc) {
  return component<WorkloadFactory, const std::string&>(
      name, doc, profile_option_fields(),
      [name](const ProfileOptions& options, const std::string& pointer) {
        return make_profile_workload_factory(profile_file(name), options, pointer);
      });
}

WorkloadEntry profile_entry() {
  return component<WorkloadFactory, const std::string&>(
      "profile", "layer times and tensor sizes from a file of your own; also \"profile:PATH\"",
      FieldTable<FileOptions>{}
          .required("path", &FileOptions::path, text(),
                    "CSV or JSON: tensor, numel, forward_s, backward_s")
          .include(&FileOptions::profile, profile_option_fields()),
      [](const FileOptions& options, const std::string& pointer) {
        return make_profile_workload_factory(options.path, options.profile, pointer);
      });
}

}  // namespace trigram
