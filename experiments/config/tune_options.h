#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/config/fields.h"
#include "experiments/config/target_level.h"
#include "experiments/tune/tuner.h"

namespace trigram {

/// The cost that `trigram tune` minimises. It is computed from the summary of a run
/// (docs/summary.md).
struct Objective {
  /// If set, the time until the mean model reaches this level.
  std::optional<TargetLevel> target;
  /// The cost is the sum of these weights times the values of the summary's keys. If the map is
  /// empty and there is no target, the cost is the time of a step.
  std::map<std::string, double> weights;
  Json definition = "step_time";  // as in the configuration

  bool is_step_time() const { return !target && weights.empty(); }
  bool is_time() const { return weights.empty(); }
  /// "step time", "time to an accuracy of 80 %" or "weighted cost".
  std::string text() const;
};

/// The object "tune" of a configuration.
struct TuneOptions {
  SearchSpace space;
  Objective objective;
  TuneMethod method = TuneMethod::bayesian;
  std::int64_t evaluations = 60, seed = 1, initial = 0, batch = 0;

  Tuner tuner() const;
};

/// "step_time", {"time_to": {"accuracy": 0.8}}, or {"weights": {"step_s": 1, ...}}.
OptionType<Objective> objective();
/// The object "tune"; its schema is part of that of configurations.
OptionType<TuneOptions> tune_options();

/// Reads "tune" from a configuration, with settings ("/json/pointer=value") applied. Throws
/// ConfigError, also if the configuration sweeps over anything but seeds.
TuneOptions read_tune_options(const std::filesystem::path& config,
                              const std::vector<std::string>& settings);

}  // namespace trigram
