#pragma once

#include <memory>
#include <optional>
#include <string>

#include "experiments/worlds.h"

namespace trigram {

/// The user's options for where a benchmark runs, without an experiment.
struct PlaceOptions {
  std::string runtime;  // a name, or {"name": ..., options} in JSON
  std::string cluster;  // a file or a preset; empty: nodes of one worker, in real time one node
  int ranks = 0;        // 0: the ranks of the cluster or of the job, else 2
};

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
