#pragma once

#include <string>

#include "netmodels/cluster.h"

namespace trigram {

/// The content of a file, or of the preset in configs/clusters of that name, without "$schema". A
/// file that is an experiment stands for the cluster in it, with the pointer to it: "/cluster".
struct ClusterFile {
  Json description;
  std::string pointer;
  std::string path;

  /// Parses the description. Errors name the file and pointers in it.
  Cluster cluster() const;
};

/// Throws ConfigError, at `option`, where there is neither a file nor a preset of that name.
ClusterFile read_cluster_file(const std::string& name, const std::string& option);

}  // namespace trigram
