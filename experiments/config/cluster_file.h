#pragma once

#include <string>

#include "netmodels/cluster.h"

namespace trigram {

/// The description of a cluster, without "$schema". It comes from a file, or from the preset of
/// that name in configs/clusters. If the file is an experiment, `description` is the experiment's
/// cluster.
struct ClusterFile {
  Json description;
  std::string pointer;  // of the description in the file: "/cluster" in an experiment, otherwise ""
  std::string path;

  /// Parses the description. Errors name the file and JSON pointers within it.
  Cluster cluster() const;
};

/// Throws ConfigError at `option` if there is neither a file nor a preset of that name.
ClusterFile read_cluster_file(const std::string& name, const std::string& option);

}  // namespace trigram
