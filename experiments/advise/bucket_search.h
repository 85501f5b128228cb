#pragma once

#include <string>
#include <vector>

#include "experiments/advise/advice.h"
#include "experiments/advise/advisor.h"
#include "experiments/advise/question.h"

namespace trigram {

/// How many sizes the search tries for each candidate, and their range in powers of two.
constexpr std::size_t kBucketEvaluations = 8;
constexpr const char *kSmallestBucket = "256KiB", *kLargestBucket = "256MiB";

/// Ranks the candidates of a question on the network as described, and searches a size of buckets
/// for the first `candidates` of those whose algorithm has the option `bucket`: by Bayesian
/// optimisation (`Tuner`), with seed 1. The best size replaces the configured one in
/// `question.rows` if the candidate then costs less. Trials are stored in the "-search" folder.
/// Throws Advisor::Stopped if interrupted.
std::vector<TunedBucket> tune_buckets(Question& question, const Advisor::Options& options,
                                      std::size_t candidates);

}  // namespace trigram
