#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/advise/long_run.h"
#include "experiments/advise/target.h"
#include "netmodels/restart_cost.h"

namespace trigram {

/// The question that `trigram advise` answers.
struct Question {
  std::string cluster;  // a file or a preset
  std::string profile;  // the name of a workload
  Target target;
  /// The computation time of a step, in seconds, as measured on the cluster's accelerator. If it is
  /// empty, the profile's times are scaled to that accelerator.
  std::optional<double> step_s;
  std::optional<std::size_t> batch;   // samples per worker and step; if empty, the profile's batch
  RestartCost failures;               // of the cluster's nodes; by default there are none
  std::filesystem::path candidates;   // a file; if empty, configs/advise.json
  std::vector<std::string> settings;  // "/json/pointer=value"; they override the file
  std::vector<std::string> algorithms;   // compare only these algorithms; if empty, all
  std::vector<std::string> relaxations;  // words of a trigram that candidates must have
  /// If not empty, the candidates, {"/json/pointer": value}, in place of the sweeps of the file.
  std::vector<Json> rows;

  std::filesystem::path candidates_file() const;
  /// True if the candidates' experiment trains no model that could reach an accuracy or a loss, so
  /// that runs to one of these train another model, for 200 steps.
  bool replaces_workload() const;
  /// Warnings of options that do not change what runs to an accuracy or a loss learn, as users may
  /// expect.
  std::vector<std::string> ignored_option_warnings() const;
  /// The name of the results folder, such as
  /// "advise-ethernet_10g-bert_large-accuracy0.8-51ms-batch64". Different questions have different
  /// names, so that no report mixes the answers of two questions. If the user gives files or
  /// settings, it ends in six hexadecimal digits of the hash of their content. Questions that
  /// differ only in the choice of candidates share their runs and their name.
  std::string name() const;
  /// The settings that turn the candidates' experiment into the experiment of this question; the
  /// user's settings come last. If the target is a level and the experiment has no model that
  /// learns, it trains a classifier with the timing of the profile. Throws ConfigError.
  std::vector<std::string> all_settings() const;
  /// The end of the name that distinguishes questions with different files or settings of the user.
  std::string hash_suffix() const;
  /// True if one of the user's settings sets this pointer.
  bool sets(const std::string& pointer) const;
  /// Sentences about what is assumed of failures and checkpoints.
  std::vector<std::string> failure_assumptions() const;
  /// The changes of the network over time that the user's settings set.
  KeptChanges kept() const;
};

/// Checks the words of Question::relaxations. Throws ConfigError, which names the nearest word.
void check_relaxations(const std::vector<std::string>& words);

}  // namespace trigram
