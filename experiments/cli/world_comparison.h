#pragma once

#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// The manifests of one experiment in two worlds: the world that predicts and a world that
/// measures.
struct WorldPair {
  Json predicted, measured;
};

/// A key that is equal for runs of the same experiment, whatever their worlds.
std::string experiment_key(const Json& manifest);

/// All pairs of runs of the same experiment. If an experiment ran with several variants of a
/// world's options, each variant has its own pair. Options that both sweeps set are equal within a
/// pair.
std::vector<WorldPair> pair_up(const std::vector<Json>& predicted,
                               const std::vector<Json>& measured);

/// A table with a row for each pair. It shows predicted and measured step time, exposed
/// communication and bytes, their ratios, and the world options in which pairs differ. Below the
/// table are the median and the largest error of step times, the number of pairs of algorithms that
/// are measured in the predicted order (among the pairs whose predicted step times differ by more
/// than 10 % at the same setting), and the number of runs on links that deviate from their
/// configuration. All pairs must have the same two worlds.
std::string world_comparison(const std::vector<WorldPair>& pairs);

}  // namespace trigram
