#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/registry.h"
#include "core/config/fields.h"
#include "experiments/config/autotune_options.h"
#include "experiments/config/checkpoint_options.h"
#include "experiments/config/job_list.h"
#include "experiments/config/target_level.h"
#include "experiments/worlds.h"
#include "netmodels/cluster.h"

namespace trigram {

/// The step that trace.json shows, and the number of ranks that it shows. If no step is given,
/// `shown_step` chooses one (experiments/run/shortfall.h).
struct TimelineOptions {
  std::optional<std::int64_t> step;
  std::int64_t ranks = 8;
};

/// One run, checked and with all defaults filled in. Each component is an object with its "name"
/// and all its options.
struct Experiment {
  std::string name;
  std::string description;
  Json runtime;
  Cluster cluster;  // of a job: the part of the cluster in which it runs
  Json algorithm;
  Json workload;
  Json optimizer;
  std::int64_t steps = 0;
  std::int64_t micro_batches = 1;   // mini-batches that a worker adds up before each exchange
  std::optional<double> clip_norm;  // the greatest norm of the gradient; empty: not clipped
  std::optional<AutotuneOptions> autotune;      // empty: all steps have the same buckets
  std::optional<CheckpointOptions> checkpoint;  // empty: the run cannot be continued
  bool gradient_noise = false;                  // measure the gradient noise scale
  std::int64_t seed = 1;
  std::int64_t eval_every = 0;  // steps between evaluations; 0: only after the last step
  std::optional<double> target_accuracy, target_loss;  // at most one: see `target`
  TimelineOptions timeline;
  /// If true, the run ends once the times of its steps repeat. The steps that are left out count
  /// like the corresponding steps of the last simulated cycle.
  bool until_steady = false;
  std::vector<Job> jobs;  // all that share the cluster; empty: this experiment has it to itself
  std::string job;        // the name of the one that this run measures

  const World& world() const;
  const AlgorithmEntry& algorithm_entry() const;
  /// The run ends at the first evaluation that reaches this target; empty if it has none.
  std::optional<TargetLevel> target() const;
  /// The steps at which ranks exchange, with the algorithm's options and on this cluster.
  ExchangeSchedule schedule() const;
  /// True if workers carry on without those that fail, if any do: the algorithm can, the world is
  /// not one of processes, which end together, and the run writes no checkpoints, to which it would
  /// go back.
  bool carries_on() const;
  /// True if workers may leave out steps: because they fail, or because a round closed without
  /// them.
  bool leaves_out_steps() const;
  /// True if the algorithm is synchronous, that is, if all ranks do each step together.
  bool synchronous() const;
  /// True if the world emulates the cluster's network in real time.
  bool emulates() const { return world().emulates && world().emulates(runtime); }
};

/// True if the workers of the experiment would carry on if nodes crashed (Experiment::carries_on).
bool would_carry_on(const Experiment& experiment);

/// The fields of one experiment. Paths in them are relative to `base`.
FieldTable<Experiment> experiment_fields(const std::filesystem::path& base);

/// The JSON schema (draft-07) of a configuration file, including sweeps.
Json config_schema();

}  // namespace trigram
