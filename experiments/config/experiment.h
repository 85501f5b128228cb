#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "algorithms/registry.h"
#include "core/config/fields.h"
#include "experiments/worlds.h"
#include "netmodels/cluster.h"

namespace trigram {

/// Which step is drawn as a timeline, and how many ranks of it. Without a step, it is the one that
/// `shown_step` chooses (experiments/run/timeline.h).
struct TimelineOptions {
  std::optional<std::int64_t> step;
  std::int64_t ranks = 8;
};

/// One run, checked and with all defaults filled in. Components are {"name": ..., every option}.
struct Experiment {
  std::string name;
  std::string description;
  Json runtime;
  Cluster cluster;
  Json algorithm;
  Json workload;
  Json optimizer;
  std::int64_t steps = 0;
  std::int64_t seed = 1;
  std::int64_t eval_every = 0;            // steps between evaluations; 0: only after the last
  std::optional<double> target_accuracy;  // the run ends at the evaluation that reaches it
  TimelineOptions timeline;
  bool until_steady = false;  // the steps after that count without being made

  const World& world() const;
  const AlgorithmEntry& algorithm_entry() const;
  /// When the ranks exchange with these options on this cluster.
  ExchangeSchedule schedule() const;
  /// Whether ranks do each step together.
  bool synchronous() const;
  /// Whether it runs in real time on a network that the world emulates.
  bool emulates() const { return world().emulates && world().emulates(runtime); }
};

/// The fields of one experiment; paths are relative to `base`.
FieldTable<Experiment> experiment_fields(const std::filesystem::path& base);

/// The schema (draft-07) of a configuration file, sweeps included.
Json config_schema();

}  // namespace trigram
