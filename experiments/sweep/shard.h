#pragma once

#include <cstddef>
#include <string>

#include "experiments/config/plan.h"

namespace trigram {

/// One of the equal parts of a sweep. Each task of a job array makes the runs of one shard.
struct Shard {
  std::size_t number = 1, count = 1;  // this is shard `number` (from 1) of `count`
};

/// Parses "I/N" with 1 <= I <= N. Throws ConfigError at "--shard".
Shard parse_shard(const std::string& text);

/// Keeps the runs I, I + N, ... of a plan, in their order; none if the plan has fewer than I runs.
/// Every run of the plan is in exactly one shard.
void keep_shard(Plan& plan, const Shard& shard);

}  // namespace trigram
