#pragma once

#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// The manifests of one experiment in the world that predicts and in a world that measures.
struct WorldPair {
  Json predicted, measured;
};

/// Equal for runs of the same experiment, whatever their worlds.
std::string experiment_key(const Json& manifest);

/// All pairs of runs of the same experiment. If an experiment ran with several variants of a
/// world's options, each variant is in a pair of its own. Options that both sweeps set are equal
/// within a pair.
std::vector<WorldPair> pair_up(const std::vector<Json>& predicted,
                               const std::vector<Json>& measured);

/// A table with a row for each pair: predicted and measured step time, exposed communication and
/// bytes, their ratios, and the world options in which pairs differ. Below it: the median and the
/// largest error of step times; how many pairs of algorithms that differ by more than 10 % at the
/// same setting are in the predicted order; and how many runs were measured on links that deviate
/// from their configuration. All pairs must have the same two worlds.
std::string world_comparison(const std::vector<WorldPair>& pairs);

}  // namespace trigram
