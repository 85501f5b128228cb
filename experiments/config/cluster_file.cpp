#include "experiments/config/cluster_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/files.h"
#include "experiments/config/config_file.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;

fs::path path_of_cluster(const std::string& name, const std::string& option) {
  std::error_code ignored;  // for example if the path is too long; then there is no such file
  if (fs::exists(name, ignored)) return name;
  const fs::path preset = data_dir() / "configs" / "clusters" / (name + ".json");
  if (fs::exists(preset, ignored)) return preset;
  throw ConfigError(option, fmt::format("expected a file that describes a cluster, or the name of "
                                        "a preset (trigram list clusters), not {}",
                                        shortened(name)));
}

}  // namespace

ClusterFile read_cluster_file(const std::string& name, const std::string& option) {
  const fs::path path = path_of_cluster(name, option);
  Json j = read_config_file(path);
  if (!j.is_object() || !j.contains("cluster")) {
    if (j.is_object()) j.erase("$schema");
    return {std::move(j), "", path.string()};
  }
  inline_files(j, path.parent_path());
  return {j.at("cluster"), "/cluster", path.string()};
}

Cluster ClusterFile::cluster() const {
  try {
    return parse_cluster(description, pointer);
  } catch (const ConfigError& error) {
    throw error.in_file(path);
  }
}

}  // namespace trigram
