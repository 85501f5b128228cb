#pragma once

#include <cstddef>
#include <string>

#include "experiments/config/plan.h"

namespace trigram {

/// One of the equal parts of a sweep, each of which is made by a task of a job array.
struct Shard {
  std::size_t number = 1, of = 1;
};

/// Parses "I/N" with 1 <= I <= N. Throws ConfigError at "--shard".
Shard shard_from(const std::string& text);

/// Keeps the runs I, I + N, ... of a plan, in their order; none if the plan has fewer than I runs.
/// Every run of the plan is in exactly one shard.
void keep_shard(Plan& plan, const Shard& shard);

}  // namespace trigram
