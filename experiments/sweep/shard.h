#pragma once

#include <cstddef>
#include <string>

#include "experiments/config/plan.h"

namespace trigram {

/// One of the equal parts of a sweep that the tasks of a job array make.
struct Shard {
  std::size_t number = 1, of = 1;
};

/// Parses "I/N" with 1 <= I <= N. Throws ConfigError at "--shard".
Shard shard_from(const std::string& text);

/// Keeps the runs I, I + N, ... of a plan in their order; none if there are fewer than I. All
/// shards together make up the plan, and no run is in two of them.
void keep_shard(Plan& plan, const Shard& shard);

}  // namespace trigram
