#include "experiments/config/cluster_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/data_dir.h"
#include "experiments/config/config_file.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;

fs::path find(const std::string& name, const std::string& option) {
  if (fs::exists(name)) return name;
  const fs::path preset = data_dir() / "configs" / "clusters" / (name + ".json");
  if (fs::exists(preset)) return preset;
  throw ConfigError(option, fmt::format("expected a file that describes a cluster, or the name of "
                                        "a preset (trigram list networks), not {}",
                                        name));
}

}  // namespace

ClusterFile read_cluster_file(const std::string& name, const std::string& option) {
  const fs::path path = find(name, option);
  Json j = read_config_file(path);
  if (!j.is_object() || !j.contains("cluster")) {
    if (j.is_object()) j.erase("$schema");
    return {std::move(j), ""};
  }
  inline_files(j, path.parent_path());
  return {j.at("cluster"), "/cluster"};
}

}  // namespace trigram
