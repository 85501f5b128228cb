#pragma once

#include <memory>
#include <optional>
#include <string>

#include "experiments/worlds.h"

namespace trigram {

/// The options by which a user chooses where a benchmark runs, without an experiment.
struct PlaceOptions {
  std::string runtime;  // name of a world, or {"name": ..., options} in JSON
  std::string cluster;  // a file or a preset; if empty, one node per rank in simulated worlds, and
                        // otherwise a single node
  int ranks = 0;        // 0: the ranks of the cluster or of the job; 2 if there are neither
};

/// The world and the cluster in which a benchmark runs.
struct BenchPlace {
  const World* world;
  Json runtime;  // resolved
  Cluster cluster;
  std::unique_ptr<Runtime> make() const;
};

/// Resolves the options. Throws ConfigError at the option that causes the error.
BenchPlace find_place(const PlaceOptions& options);

}  // namespace trigram
