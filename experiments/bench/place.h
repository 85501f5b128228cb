#pragma once

#include <memory>
#include <optional>
#include <string>

#include "experiments/worlds.h"

namespace trigram {

/// The options by which a user chooses where a benchmark runs, without an experiment.
struct PlaceOptions {
  std::string runtime;  // name of a world, or {"name": ..., options} in JSON
  /// A file or a preset. If it is empty, the cluster has one node per rank in simulated worlds, and
  /// a single node in other worlds.
  std::string cluster;
  int ranks = 0;  // 0: the ranks of the cluster or of the job; 2 if there are neither
};

/// The world and the cluster in which a benchmark runs.
struct BenchPlace {
  const World* world;
  Json runtime;  // resolved
  Cluster cluster;
  std::unique_ptr<Runtime> make_runtime() const;
};

/// Parses the value of an option that is a name or an object in JSON. Throws ConfigError at
/// `option`.
Json parse_component(const std::string& text, const std::string& option);

/// Reads the files that the options name. Returns the resolved world as "runtime", the content of
/// the cluster's file as "cluster" (null if there is none), and "ranks". In a job, only rank 0
/// calls this. Throws ConfigError at the option that causes the error.
Json read_place(const PlaceOptions& options);
/// The place that `description`, a result of read_place, describes. Throws ConfigError, for example
/// if this process cannot run the world.
BenchPlace find_place(const Json& description);

}  // namespace trigram
