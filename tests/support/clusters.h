#pragma once

#include <string>

#include "netmodels/cluster.h"

namespace trigram::test {

/// Parses a cluster from JSON text. Errors have pointers that begin with "/cluster".
inline Cluster cluster_of(const std::string& text) {
  return parse_cluster(Json::parse(text), "/cluster");
}

/// The error message for a description that is not valid; "no error" if it is valid.
inline std::string error_of(const std::string& text) {
  try {
    cluster_of(text);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

/// 2 x 2 workers, with 1 GB/s and 10 us between nodes, and 10 GB/s and 1 us inside them.
inline Cluster two_by_two() {
  return cluster_of(R"({"nodes": 2, "workers_per_node": 2,
                   "intra": {"bandwidth": "10GB/s", "latency": "1us"},
                   "inter": {"bandwidth": "8Gbps", "latency": "10us"},
                   "accelerator": {"flops": "1TFLOP/s", "memory_bandwidth": "100GB/s",
                                   "launch_overhead": "2us"},
                   "slow_workers": [{"rank": 3, "factor": 1.5}]})");
}

}  // namespace trigram::test
