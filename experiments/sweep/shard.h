#pragma once

#include <cstddef>
#include <string>

#include "experiments/config/plan.h"

namespace trigram {

/// One of the parts into which the jobs of an array divide a sweep.
struct Shard {
  std::size_t number = 1, of = 1;
};

/// From "I/N" with 1 <= I <= N. Throws ConfigError at "--shard".
Shard shard_from(const std::string& text);

/// Leaves the runs I, I + N, ... of a plan, in its order; none where there are fewer than I. All
/// shards together are the plan, and no run is in two of them.
void keep_shard(Plan& plan, const Shard& shard);

}  // namespace trigram
