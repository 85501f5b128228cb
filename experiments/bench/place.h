#pragma once

#include <memory>
#include <optional>
#include <string>

#include "experiments/worlds.h"

namespace trigram {

/// Where a benchmark runs: as users say it, without an experiment.
struct PlaceOptions {
  std::string runtime;  // a name, or {"name": ..., options} in JSON
  std::string cluster;  // a file or the name of a preset; flat when empty
  int ranks = 0;        // 0: those of the cluster or of the job, else 2
};

struct BenchPlace {
  const World* world;
  Json runtime;  // resolved
  Cluster cluster;
  std::unique_ptr<Runtime> make() const;
};

/// Throws ConfigError, at the option that it is due to.
BenchPlace find_place(const PlaceOptions& options);

}  // namespace trigram
