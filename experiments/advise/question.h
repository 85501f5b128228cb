#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/advise/long_run.h"
#include "experiments/advise/target.h"

namespace trigram {

/// What is asked of `trigram advise`.
struct Question {
  std::string cluster;  // a file or a preset
  std::string profile;  // as workloads are named
  Target target;
  std::optional<double> step_s;         // measured on the cluster's accelerator; none: scaled to it
  std::optional<std::size_t> batch;     // samples per worker and step; none: the profile's
  std::filesystem::path candidates;     // the experiment; empty: configs/advise.json
  std::vector<std::string> settings;    // "/json/pointer=value" in place of the experiment's
  std::vector<std::string> algorithms;  // these alone; none: all
  std::vector<std::string> relaxations;  // words of a trigram that candidates must have

  std::filesystem::path candidates_file() const;
  /// The name of the results' folder, one for each question, so that no page mixes the answers of
  /// two: "advise-ethernet_10g-bert_large-accuracy0.8-51ms-batch64". Where files or settings are of
  /// the user's own, it ends in six digits of the hash of what they say. Questions that differ in
  /// the choice of candidates alone share their runs.
  std::string name() const;
  /// What makes the experiment of the candidates that of this question, the user's settings last.
  /// An experiment that times a profile trains a classifier, timed as the profile, where an
  /// accuracy is asked for. Throws ConfigError.
  std::vector<std::string> all_settings() const;
  /// What makes it another question than one of the same name.
  std::string own_digits() const;
  /// Whether the user's settings set this pointer.
  bool sets(const std::string& pointer) const;
  /// What they set of a network that changes in time.
  Kept kept() const;
};

}  // namespace trigram
