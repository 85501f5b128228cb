#pragma once

#include <string>
#include <vector>

#include "core/config/kinds.h"

namespace trigram {

/// The manifests of one experiment, in the world that predicts and in one that measures.
struct WorldPair {
  Json predicted, measured;
};

/// What an experiment is, whatever the world that it runs in.
std::string experiment_key(const Json& manifest);

/// A table of step times, exposed communication and bytes, predicted and measured, and their ratio,
/// a row for each pair; then the median and the greatest error of step times, and how many pairs of
/// algorithms that differ by more than 10 % at one setting come in the predicted order. All pairs
/// are of the same two worlds.
std::string world_comparison(const std::vector<WorldPair>& pairs);

}  // namespace trigram
