#pragma once

#include <string>

#include "netmodels/cluster.h"

namespace trigram::test {

/// Parses a cluster as users write it, at "/cluster".
inline Cluster cluster_of(const std::string& text) {
  return parse_cluster(Json::parse(text), "/cluster");
}

/// The error message for a description that must be refused.
inline std::string error_of(const std::string& text) {
  try {
    cluster_of(text);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace trigram::test
