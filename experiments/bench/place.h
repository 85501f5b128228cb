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

/// The resolved world as "runtime", the content of the file as "cluster" (null: none), and "ranks".
/// In a job, rank 0 alone reads the file. Throws ConfigError, reported at the option that causes
/// it.
Json read_place(const PlaceOptions& options);
/// Throws ConfigError, too, for example if this process cannot run the world.
BenchPlace find_place(const Json& read);

}  // namespace trigram
