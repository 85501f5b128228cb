#pragma once

#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// The manifests of one experiment, in the world that predicts and in one that measures.
struct WorldPair {
  Json predicted, measured;
};

/// What an experiment is, whatever the world that it runs in.
std::string experiment_key(const Json& manifest);

/// All pairs of runs of one experiment: a run that was predicted in several variants of the world's
/// options, or measured in several, is in as many pairs. What both sweep is the same in a pair.
std::vector<WorldPair> pair_up(const std::vector<Json>& predicted,
                               const std::vector<Json>& measured);

/// A table of step times, exposed communication and bytes, predicted and measured, and their ratio,
/// a row for each pair, with the options of the worlds in which the pairs differ; then the median
/// and the greatest error of step times, and how many pairs of algorithms that differ by more than
/// 10 % at one setting come in the predicted order; and how many runs were measured on links that
/// were off. All pairs are of the same two worlds.
std::string world_comparison(const std::vector<WorldPair>& pairs);

}  // namespace trigram
